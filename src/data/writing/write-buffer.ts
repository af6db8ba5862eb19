import mongoose, {
  type Aggregate,
  type AnyBulkWriteOperation,
  type ClientSession,
  type Model,
  type mongo,
  type Query,
  type Schema,
} from 'mongoose';

import { yieldToEventLoop } from '../../core/async';
import { chunksOf } from '../../core/values';
import type { Transaction } from './transaction';

/** Writes in a command, which the driver encodes in one turn of the event loop. */
const MAX_SENT = 500;

export type AnyQuery = Query<unknown, unknown>;

/** How many records the updates of a `bulkWrite` must match, and the error if they match fewer. */
interface Required {
  count: number;
  missing: () => Error;
}

/** Options of `Model.bulkWrite`. */
export interface BulkWriteOptions {
  session?: ClientSession;
  required?: Required;
  /** Whether to skip casting and validation, as in `insertMany`. */
  lean?: boolean;
  /** Whether to skip tracking (see `tracked`). */
  tracked?: boolean;
}

/** A `bulkWrite` that is sent later, with others. */
interface BufferedWrites {
  /** The account whose data is written; undefined for shared data. */
  owner: unknown;
  writes: readonly AnyBulkWriteOperation[];
  required: Required | undefined;
  lean: boolean | undefined;
}

const bySession = new WeakMap<ClientSession, WriteBuffer>();

/**
 * Buffers the `bulkWrite`s of a transaction. Those to a collection are sent in one command, in order:
 * before the next query of their account to that collection, or before the commit. Queries find the
 * buffer by their session.
 */
export class WriteBuffer {
  /** The transactions that share the session, by account. */
  readonly transactions = new Map<string, Transaction>();
  readonly #byModel = new Map<Model<unknown>, BufferedWrites[]>();

  constructor(readonly session: ClientSession) {
    bySession.set(session, this);
  }

  /** The buffer of a session; undefined if it has none. */
  static of(session: ClientSession | null | undefined): WriteBuffer | undefined {
    return session ? bySession.get(session) : undefined;
  }

  add(model: Model<unknown>, writes: BufferedWrites): void {
    const buffered = this.#byModel.get(model);
    if (buffered) buffered.push(writes);
    else this.#byModel.set(model, [writes]);
  }

  /**
   * Sends the writes of an account, or of all accounts, to a collection.
   *
   * @throws the error of `missing` if too few records matched. MongoDB counts the matches of a command,
   *   so it may be the error of another write
   */
  async flush(model: Model<unknown>, owner?: unknown): Promise<void> {
    const buffered = this.#byModel.get(model) ?? [];
    const isSent = (each: BufferedWrites) => typeof owner !== 'string' || each.owner === owner;
    const sent = buffered.filter(isSent);
    if (sent.length === 0) return;
    this.#byModel.set(
      model,
      buffered.filter((each) => !isSent(each)),
    );
    for (const group of groupsOf(sent)) {
      const writes = summed(group.flatMap((each) => each.writes));
      const { session } = this;
      let matchedCount = 0;
      for (const chunk of chunksOf(writes, MAX_SENT)) {
        if (writes.length > MAX_SENT) await yieldToEventLoop();
        const result = group[0]?.lean
          ? await model.collection.bulkWrite(chunk as mongo.AnyBulkWriteOperation[], { session })
          : // The hooks ran when it was added.
            await model.bulkWrite(chunk, { session, middleware: false });
        matchedCount += result.matchedCount;
      }
      const required = group.flatMap((each) => each.required ?? []);
      const count = required.reduce((sum, each) => sum + each.count, 0);
      if (required[0] && matchedCount < count) throw required[0].missing();
    }
  }

  async flushAll(): Promise<void> {
    for (const model of this.#byModel.keys()) await this.flush(model);
  }
}

/** Groups consecutive writes that need the same kind of command. */
function groupsOf(writes: readonly BufferedWrites[]): BufferedWrites[][] {
  const groups: BufferedWrites[][] = [];
  for (const write of writes) {
    const group = groups.at(-1);
    const isAlike = !group?.[0]?.required === !write.required && group?.[0]?.lean === write.lean;
    if (group && isAlike) group.push(write);
    else groups.push([write]);
  }
  return groups;
}

/** Sums consecutive increments of the same document to one write. */
function summed(writes: readonly AnyBulkWriteOperation[]): AnyBulkWriteOperation[] {
  const sums = new Map<string, Record<string, number>>();
  return writes.flatMap((write) => {
    const updateOne = 'updateOne' in write ? write.updateOne : undefined;
    const { $inc, ...others } = (updateOne?.update ?? {}) as { $inc?: Record<string, number> };
    if (!updateOne || !$inc || Object.keys(others).length > 0) {
      sums.clear();
      return write;
    }
    const { filter, upsert } = updateOne;
    const key = JSON.stringify([filter, upsert]);
    const known = sums.get(key);
    // A copy: writes may share their increments.
    const sum = known ?? { ...$inc };
    if (known) for (const [path, by] of Object.entries($inc)) sum[path] = (sum[path] ?? 0) + by;
    sums.set(key, sum);
    return known ? [] : { updateOne: { ...updateOne, update: { $inc: sum } } };
  });
}

/**
 * Returns the transaction of an account in a session.
 *
 * @throws Error if there is none
 */
export function transactionIn(
  session: ClientSession | null | undefined,
  userId: unknown,
): Transaction {
  const tx = WriteBuffer.of(session)?.transactions.get(String(userId));
  if (!tx) {
    throw new Error('Tracked and counted records are written in a transaction of their account.');
  }
  return tx;
}

/** The transaction of a query. */
export function txOf(query: AnyQuery): Transaction {
  return transactionIn(query.getOptions().session, query.getFilter()['userId']);
}

/** The update in a write of a `bulkWrite`, if it is one. */
export function updateIn(write: AnyBulkWriteOperation) {
  if ('updateOne' in write) return write.updateOne;
  return 'updateMany' in write ? write.updateMany : undefined;
}

interface Owned {
  userId?: unknown;
}

/** The account whose data a write of a `bulkWrite` changes. */
export function ownerIn(write: AnyBulkWriteOperation): unknown {
  // A write is an object with one key, such as `insertOne`.
  const [body] = Object.values(write) as { filter?: Owned; document?: Owned }[];
  return (body?.filter ?? body?.document)?.userId;
}

/** The queries that update records which exist. */
export const UPDATES: ('findOneAndUpdate' | 'updateMany' | 'updateOne')[] = [
  'findOneAndUpdate',
  'updateMany',
  'updateOne',
];

/** Refuses writes whose hooks do not get the records. */
export function refuseOthers(schema: Schema): void {
  schema.pre(['deleteOne', 'findOneAndReplace', 'replaceOne'], refuse);
  schema.pre('insertMany', refuse);
  schema.pre('save', refuse);
}

export function refuse(): never {
  throw new Error(
    'Tracked and counted records are inserted by bulkWrite, and deleted by findOneAndDelete or deleteMany.',
  );
}

/**
 * Schema plugin that buffers each `bulkWrite` in a transaction (see {@link WriteBuffer}); it then returns
 * nothing. Queries send the buffered writes of their account first.
 */
export function grouped(schema: Schema): void {
  schema.pre(
    [
      'countDocuments',
      'deleteMany',
      'deleteOne',
      'distinct',
      'find',
      'findOne',
      'findOneAndDelete',
      'findOneAndReplace',
      'findOneAndUpdate',
      'replaceOne',
      'updateMany',
      'updateOne',
    ],
    async function flush(this: AnyQuery) {
      const { session } = this.getOptions();
      await WriteBuffer.of(session)?.flush(this.model, this.getFilter()['userId']);
    },
  );
  schema.pre('aggregate', async function flush(this: Aggregate<unknown>) {
    await WriteBuffer.of(this.options.session)?.flush(this.model());
  });
  schema.pre(
    'bulkWrite',
    function add(this: Model<unknown>, writes, options: BulkWriteOptions = {}) {
      const buffer = WriteBuffer.of(options.session);
      const [first] = writes;
      if (!buffer || !first) return;
      const owner = ownerIn(first);
      if (writes.some((write) => ownerIn(write) !== owner)) {
        throw new Error('All writes of a bulkWrite must be to one account.');
      }
      const { required, lean } = options;
      buffer.add(this, { owner, writes, required, lean });
      throw mongoose.skipMiddlewareFunction(undefined);
    },
  );
}
