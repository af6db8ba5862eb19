import mongoose, {
  type Aggregate,
  type AnyBulkWriteOperation,
  type ClientSession,
  type Model,
  type mongo,
  type Query,
  type Schema,
} from 'mongoose';

import { yieldToEventLoop } from '../../core/async/event-loop';
import { chunksOf } from '../../core/values';
import type { Transaction } from './transaction';

/** How many writes a command has at most: the driver encodes them in one turn of the event loop. */
const MAX_SENT = 500;

/** Any query, whatever it finds. */
export type AnyQuery = Query<unknown, unknown>;

/** How many records the updates of a `bulkWrite` have to match, and the error where it is fewer. */
interface Required {
  count: number;
  missing: () => Error;
}

/** Options of `Model.bulkWrite`. */
export interface BulkWriteOptions {
  session?: ClientSession;
  required?: Required;
  /** Whether all is sent as it is given, neither cast nor validated, as by `insertMany`. */
  lean?: boolean;
}

/** A `bulkWrite` that is sent later, with others. */
interface BufferedWrites {
  /** The account whose data is written; undefined where it is of no one account. */
  owner: unknown;
  writes: readonly AnyBulkWriteOperation[];
  required: Required | undefined;
  lean: boolean | undefined;
}

const bySession = new WeakMap<ClientSession, WriteBuffer>();

/**
 * What the `bulkWrite`s of a transaction write. Those to a collection are sent in one command, in
 * their order: before the account's next query there, or at the end. The buffer is found by its
 * session, so no query of the transaction overtakes it.
 */
export class WriteBuffer {
  /** By the account: those that share the session. */
  readonly transactions = new Map<string, Transaction>();
  readonly #byModel = new Map<Model<unknown>, BufferedWrites[]>();

  constructor(readonly session: ClientSession) {
    bySession.set(session, this);
  }

  /** The buffer of a transaction in progress; undefined for other sessions. */
  static of(session: ClientSession | null | undefined): WriteBuffer | undefined {
    return session ? bySession.get(session) : undefined;
  }

  add(model: Model<unknown>, writes: BufferedWrites): void {
    const buffered = this.#byModel.get(model);
    if (buffered) buffered.push(writes);
    else this.#byModel.set(model, [writes]);
  }

  /**
   * Sends an account's writes to a collection; those of all accounts where no one is named.
   *
   * @throws what `missing` returns where too little matched: MongoDB counts the matches of a command
   *   and not of each of its writes, so it may be that of another
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
      const writes = group.flatMap((each) => each.writes);
      const { session } = this;
      let matchedCount = 0;
      for (const chunk of chunksOf(writes, MAX_SENT)) {
        if (writes.length > MAX_SENT) await yieldToEventLoop();
        const result = group[0]?.lean
          ? await model.collection.bulkWrite(chunk as mongo.AnyBulkWriteOperation[], { session })
          : // The hooks have run, when it was added.
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

/** Splits writes where those begin or end that must match, or are sent as they are. */
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

/**
 * The transaction of an account that a session is of.
 *
 * @throws Error where there is none
 */
export function transactionOf(
  session: ClientSession | null | undefined,
  userId: unknown,
): Transaction {
  const tx = WriteBuffer.of(session)?.transactions.get(String(userId));
  if (!tx) throw new Error('Such a record is written in a transaction of its account.');
  return tx;
}

/** A write of a `bulkWrite`, where it is an update. */
export function updateIn(write: AnyBulkWriteOperation) {
  if ('updateOne' in write) return write.updateOne;
  return 'updateMany' in write ? write.updateMany : undefined;
}

type Target = Readonly<Record<string, unknown>>;

/** What a write of a `bulkWrite` finds, or inserts. */
export function targetOf(write: AnyBulkWriteOperation): Target {
  // A write is an object of one key, whose value has one of these.
  const [body] = Object.values(write) as { filter?: Target; document?: Target }[];
  return body?.filter ?? body?.document ?? {};
}

/**
 * Has each `bulkWrite` in a transaction wait, so that it is sent with those of others (see
 * {@link WriteBuffer}); it then returns nothing. Queries see what waits of their account.
 */
export function grouped(schema: Schema): void {
  schema.pre(
    [
      ...['countDocuments', 'deleteMany', 'deleteOne', 'distinct', 'find', 'findOne'] as const,
      ...['findOneAndDelete', 'findOneAndReplace', 'findOneAndUpdate'] as const,
      ...['replaceOne', 'updateMany', 'updateOne'] as const,
    ],
    async function flush(this: AnyQuery) {
      const { session } = this.getOptions();
      await WriteBuffer.of(session)?.flush(this.model, this.getFilter()['userId']);
    },
  );
  schema.pre('aggregate', async function flush(this: Aggregate<unknown>) {
    await WriteBuffer.of(this.options.session)?.flush(this.model());
  });
  schema.pre('bulkWrite', function add(this: Model<unknown>, writes, options: BulkWriteOptions = {}) {
    const buffer = WriteBuffer.of(options.session);
    const [first] = writes;
    if (!buffer || !first) return;
    const owner = targetOf(first)['userId'];
    if (writes.some((write) => targetOf(write)['userId'] !== owner)) {
      throw new Error('The writes of a bulkWrite are of one account.');
    }
    const { required, lean } = options;
    buffer.add(this, { owner, writes, required, lean });
    throw mongoose.skipMiddlewareFunction(undefined);
  });
}
