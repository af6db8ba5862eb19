import type { Model, Query, Schema } from 'mongoose';

import { isRecord } from '../../core/values';
import type { Tenant } from './tenant';

/** What queries of user data have beside Mongoose's own methods. */
interface OwnerHelpers {
  /** Names the account, and has the query be part of its transaction or snapshot. */
  of<Q>(this: Q, tenant: Tenant): Q;
  /** Lets the query look across accounts; `why` stands where a reviewer looks for it. */
  acrossAccounts<Q>(this: Q, why: string): Q;
}

/** A model of user data. */
export type OwnedModel<T> = Model<T, OwnerHelpers>;

type AnyQuery = Query<unknown, unknown>;

/**
 * Makes a model one of user data: whatever names no account throws. Ids that queries find come as
 * bare Buffers (`StoredId`), which saves a third of the CPU.
 */
export function owned(schema: Schema): void {
  Object.assign(schema.query, {
    of(this: AnyQuery, { userId, session }: Tenant) {
      this.setQuery({ ...this.getFilter(), userId });
      return this.setOptions({ promoteBuffers: true, ...(session && { session }) });
    },
    acrossAccounts(this: AnyQuery, why: string) {
      return this.setOptions({ promoteBuffers: true, acrossAccounts: why });
    },
  });
  schema.on('init', guard);
}

/** Thrown by a query on user data that does not say whose data. It is always a programming error. */
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

/** Every way to the documents of a collection, the position of what it must name, and the check. */
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

/** Ways to the documents that cannot be checked, and that nothing here needs. */
const REFUSED = [
  'estimatedDocumentCount',
  'initializeOrderedBulkOp',
  'initializeUnorderedBulkOp',
  'watch',
] as const;

/**
 * Checks what is asked of a collection, through Mongoose and through the driver alike: both go by the
 * methods of `model.collection`, and no option passes them by, as `middleware: false` does hooks.
 */
function guard(model: Model<unknown>): void {
  // Mongoose defines these methods on each collection object by name; here they are met by name.
  const methods = model.collection as unknown as Record<string, (...args: unknown[]) => unknown>;
  const check = (name: string, allows: (args: readonly unknown[]) => boolean): void => {
    const original = methods[name];
    if (!original) return;
    methods[name] = function guarded(this: unknown, ...args: unknown[]) {
      if (!allows(args)) {
        throw new UnscopedQueryError(
          `${model.modelName}.${name} must name the account: user data is only read and written by userId.`,
        );
      }
      return original.apply(this, args);
    };
  };
  for (const [name, [position, allows]] of Object.entries(CHECKS)) {
    check(name, (args) => allows(args[position]) || isAcrossAccounts(args.slice(position + 1)));
  }
  for (const name of REFUSED) check(name, () => false);
}

/** Whether the options, which come last, say why a query looks across accounts. */
function isAcrossAccounts(rest: readonly unknown[]): boolean {
  const options = rest.at(-1);
  return isRecord(options) && typeof options['acrossAccounts'] === 'string';
}
