import mongoose, {
  type ClientSession,
  type Collection,
  type Model,
  type Query,
  type Schema,
} from 'mongoose';

import { isRecord } from '../../core/values';

/** The account of a query and, in a transaction or snapshot, its session. */
export interface Tenant {
  readonly userId: string;
  readonly session?: ClientSession;
}

/** The filter for records that are not softly deleted. */
export const LIVE = { deletedAt: null };

/** Query helpers of models of user data. */
interface OwnerHelpers {
  /** Limits the query to an account, in its transaction or snapshot. */
  of<Q>(this: Q, tenant: Tenant): Q;
  /** Allows the query to read all accounts. @param why for reviewers */
  acrossAccounts<Q>(this: Q, why: string): Q;
}

/** A model of user data. */
export type OwnedModel<T> = Model<T, OwnerHelpers>;

type AnyQuery = Query<unknown, unknown>;

/**
 * Schema plugin for user data: queries and writes that do not name an account throw. Queries return ids
 * as Buffers (`StoredId`), which saves a third of the CPU.
 */
export function owned(schema: Schema): void {
  Object.assign(schema.query, {
    of(this: AnyQuery, { userId, session }: Tenant) {
      this.setQuery({ ...this.getFilter(), userId });
      // In place of the read concern of the connection.
      if (session?.snapshotEnabled) this.readConcern('snapshot');
      return this.setOptions({ promoteBuffers: true, ...(session && { session }) });
    },
    acrossAccounts(this: AnyQuery, why: string) {
      return this.setOptions({ promoteBuffers: true, acrossAccounts: why });
    },
  });
  schema.on('init', (model: Model<unknown>) => guarded.set(model.collection, model.modelName));
}

/** Thrown by a query on user data without an account. It is always a programming error. */
export class UnscopedQueryError extends Error {}

type Check = (argument: unknown) => boolean;

const namesAccount: Check = (filter) =>
  isRecord(filter) && typeof filter['userId'] === 'string' && filter['userId'] !== '';

const everyNamesAccount: Check = (documents) =>
  Array.isArray(documents) && documents.length > 0 && documents.every(namesAccount);

const startsWithAccount: Check = (pipeline) =>
  Array.isArray(pipeline) && isRecord(pipeline[0]) && namesAccount(pipeline[0]['$match']);

const everyWriteNamesAccount: Check = (writes) =>
  Array.isArray(writes) &&
  writes.length > 0 &&
  writes.every(
    (write) =>
      isRecord(write) &&
      Object.values(write).every(
        (body) => isRecord(body) && namesAccount(body['filter'] ?? body['document']),
      ),
  );

/** The methods of a collection, with the position of the argument to check. */
const CHECKS: Readonly<Record<string, [position: number, check: Check]>> = {
  aggregate: [0, startsWithAccount],
  bulkWrite: [0, everyWriteNamesAccount],
  count: [0, namesAccount],
  countDocuments: [0, namesAccount],
  deleteMany: [0, namesAccount],
  deleteOne: [0, namesAccount],
  distinct: [1, namesAccount],
  find: [0, namesAccount],
  findOne: [0, namesAccount],
  findOneAndDelete: [0, namesAccount],
  findOneAndReplace: [0, namesAccount],
  findOneAndUpdate: [0, namesAccount],
  insertMany: [0, everyNamesAccount],
  insertOne: [0, namesAccount],
  replaceOne: [0, namesAccount],
  updateMany: [0, namesAccount],
  updateOne: [0, namesAccount],
};

/** Methods that cannot be checked, and are not used. */
const REFUSED = [
  'estimatedDocumentCount',
  'initializeOrderedBulkOp',
  'initializeUnorderedBulkOp',
  'watch',
] as const;

/** The collections whose queries must name an account, with the names of their models. */
const guarded = new WeakMap<Collection, string>();

/**
 * A collection that checks the arguments of its methods. Mongoose and the driver both use these, and no
 * option skips them, as `middleware: false` skips hooks.
 */
class CheckedCollection extends mongoose.Collection {}

function check(name: string, allows: (args: readonly unknown[]) => boolean): void {
  const original: unknown = Reflect.get(mongoose.Collection.prototype, name);
  if (typeof original !== 'function') return;
  const value = function checked(this: Collection, ...args: unknown[]): unknown {
    const model = guarded.get(this);
    if (model !== undefined && !allows(args)) {
      throw new UnscopedQueryError(`${model}.${name} must name the account by userId.`);
    }
    return Reflect.apply(original, this, args);
  };
  Object.defineProperty(CheckedCollection.prototype, name, { value });
}

/** Lets Mongoose check queries on user data. Call it before there are connections. */
export function checkQueries(): void {
  for (const [name, [position, allows]] of Object.entries(CHECKS)) {
    check(name, (args) => allows(args[position]) || isAcrossAccounts(args.slice(position + 1)));
  }
  for (const name of REFUSED) check(name, () => false);
  mongoose.setDriver({ Collection: CheckedCollection, Connection: mongoose.Connection });
}

/** Whether the options, which come last, allow the query to read all accounts. */
function isAcrossAccounts(rest: readonly unknown[]): boolean {
  const options = rest.at(-1);
  return isRecord(options) && typeof options['acrossAccounts'] === 'string';
}
