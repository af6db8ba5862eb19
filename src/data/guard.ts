import { isRecord } from '../core/values';
import type { AnyModel } from './models';

/** Whether the query that is being made may be across accounts. */
let isPermitted = false;

/**
 * Lets `work` make queries of user data across accounts, for a reason that is given by name. Only
 * those that it makes before it returns: storage that follows promises would slow all of them.
 */
export function acrossAccounts<T>(_why: string, work: () => T): T {
  isPermitted = true;
  try {
    return work();
  } finally {
    isPermitted = false;
  }
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
 * Makes every query of a model on user data throw unless it names the account, through Mongoose
 * and through the driver alike: both go by the methods of `model.collection`.
 */
export function guardUserData(model: AnyModel): void {
  // Mongoose defines these methods on each collection object by name; here they are met by name.
  const methods = model.collection as unknown as Record<string, (...args: unknown[]) => unknown>;
  const guard = (name: string, allows: (args: unknown[]) => boolean): void => {
    const original = methods[name];
    if (!original) return;
    methods[name] = function guarded(this: unknown, ...args: unknown[]) {
      if (!isPermitted && !allows(args)) {
        throw new UnscopedQueryError(
          `${model.modelName}.${name} must name the account: user data is only read and written by userId.`,
        );
      }
      return original.apply(this, args);
    };
  };
  for (const [name, [position, check]] of Object.entries(CHECKS)) {
    guard(name, (args) => check(args[position]));
  }
  for (const name of REFUSED) guard(name, () => false);
}
