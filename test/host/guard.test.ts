import { randomUUID } from 'node:crypto';

import { mongo, Schema } from 'mongoose';

import { Metrics } from '../../src/core/metrics';
import { Database } from '../../src/data/mongodb/database';
import { UnscopedQueryError } from '../../src/data/model/owner';
import { accountModel, sharedModel } from '../../src/data/model/models';
import { freshDatabase } from '../support/databases';

interface Leaf {
  userId: string;
  size: number;
}

function leafSchema(collection: string) {
  const fields = { userId: { type: String, required: true }, size: Number };
  return new Schema<Leaf>(fields, { collection, versionKey: false });
}

const database = new Database(new Metrics());
const leaves = accountModel<Leaf>('Leaf', leafSchema('Leaf'));
const shared = sharedModel<Leaf>(
  'SharedLeaf',
  'for tests',
  { oneShard: 'for tests' },
  leafSchema('SharedLeaf'),
);
const model = database.model(leaves);
database.model(shared);
// Mongoose's collection forwards each method to the driver's; only its type is looser.
const driver = model.collection as unknown as mongo.Collection<Leaf>;

beforeAll(() => database.connect(freshDatabase()));
afterAll(async () => {
  await database.connection.dropDatabase();
  await database.close();
});

/** The error that a call throws or rejects with; undefined if it succeeds. */
async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    const result = call();
    // A cursor sends no query until it is read.
    if (result instanceof mongo.AggregationCursor || result instanceof mongo.FindCursor) {
      await result.toArray();
    } else await result;
    return undefined;
  } catch (error) {
    return error;
  }
}

type Filter = Record<string, unknown>;
const set = { $set: { size: 2 } };

/** Every method of the driver that accesses documents, called with a filter and options. */
const DRIVER_CALLS: Readonly<Record<string, (filter: Filter, options?: object) => unknown>> = {
  aggregate: (filter, options) => driver.aggregate([{ $match: filter }], options),
  bulkWrite: (filter, options) =>
    driver.bulkWrite([{ updateOne: { filter, update: set } }], options),
  // Deprecated, and there all the same.
  // oxlint-disable-next-line typescript/no-deprecated
  count: (filter, options) => driver.count(filter, options),
  countDocuments: (filter, options) => driver.countDocuments(filter, options),
  deleteMany: (filter, options) => driver.deleteMany({ ...filter, size: -1 }, options),
  deleteOne: (filter, options) => driver.deleteOne({ ...filter, size: -1 }, options),
  distinct: (filter, options = {}) => driver.distinct('size', filter, options),
  find: (filter, options) => driver.find(filter, options),
  findOne: (filter, options) => driver.findOne(filter, options),
  findOneAndDelete: (filter, options = {}) =>
    driver.findOneAndDelete({ ...filter, size: -1 }, options),
  findOneAndReplace: (filter, options = {}) =>
    driver.findOneAndReplace(filter, { userId: 'ada', size: 3 }, options),
  findOneAndUpdate: (filter, options = {}) => driver.findOneAndUpdate(filter, set, options),
  // The driver's types require whole documents, and the test omits fields.
  insertMany: (filter, options) =>
    driver.insertMany([{ size: 1, ...filter } as Leaf & { _id: mongo.ObjectId }], options),
  insertOne: (filter, options) =>
    driver.insertOne({ size: 1, ...filter } as Leaf & { _id: mongo.ObjectId }, options),
  replaceOne: (filter, options) => driver.replaceOne(filter, { userId: 'ada', size: 3 }, options),
  updateMany: (filter, options) => driver.updateMany(filter, set, options),
  updateOne: (filter, options) => driver.updateOne(filter, set, options),
};

/** The same methods through Mongoose. */
const MONGOOSE_CALLS: Readonly<Record<string, (filter: Filter) => unknown>> = {
  aggregate: (filter) => model.aggregate([{ $match: filter }]),
  bulkWrite: (filter) => model.bulkWrite([{ updateOne: { filter, update: set } }]),
  countDocuments: (filter) => model.countDocuments(filter),
  cursor: (filter) => model.find(filter).cursor().next(),
  deleteMany: (filter) => model.deleteMany({ ...filter, size: -1 }),
  deleteOne: (filter) => model.deleteOne({ ...filter, size: -1 }),
  distinct: (filter) => model.distinct('size', filter),
  exists: (filter) => model.exists(filter),
  find: (filter) => model.find(filter),
  'find lean': (filter) => model.find(filter).lean(),
  findOne: (filter) => model.findOne(filter),
  findOneAndDelete: (filter) => model.findOneAndDelete({ ...filter, size: -1 }),
  findOneAndReplace: (filter) => model.findOneAndReplace(filter, { userId: 'ada', size: 3 }),
  findOneAndUpdate: (filter) => model.findOneAndUpdate(filter, set),
  replaceOne: (filter) => model.replaceOne(filter, { userId: 'ada', size: 3 }),
  updateMany: (filter) => model.updateMany(filter, set),
  updateOne: (filter) => model.updateOne(filter, set),
  'find without hooks': (filter) => model.find(filter).setOptions({ middleware: false }),
};

const UNSCOPED: readonly [string, Filter][] = [
  ['names no account', {}],
  ['names other things', { size: 1 }],
  ['names an empty account', { userId: '' }],
  ['names accounts by an operator', { userId: { $ne: 'nobody' } }],
  ['names accounts by a pattern', { userId: /./ }],
  ['names the account in a branch only', { $or: [{ userId: 'ada' }, { size: 1 }] }],
];

const everyCall = [
  ...Object.entries(DRIVER_CALLS).map(([name, call]) => [`driver's ${name}`, call] as const),
  ...Object.entries(MONGOOSE_CALLS).map(([name, call]) => [`Mongoose's ${name}`, call] as const),
];

describe.each(everyCall)('the %s on user data', (_, call) => {
  test.each(UNSCOPED)('throws if it %s', async (_case, filter) => {
    expect(await failureOf(() => call(filter))).toBeInstanceOf(UnscopedQueryError);
  });

  test('works if it names the account', async () => {
    expect(await failureOf(() => call({ userId: 'ada' }))).toBeUndefined();
  });
});

test.each(Object.entries(DRIVER_CALLS))(
  "the driver's %s works across accounts if a reason is given",
  async (_, call) => {
    const across = (acrossAccounts?: string) =>
      failureOf(() => call({ userId: { $type: 'string' } }, { acrossAccounts }));
    expect(await across('a test')).not.toBeInstanceOf(UnscopedQueryError);
    expect(await across()).toBeInstanceOf(UnscopedQueryError);
  },
);

test('every method of the driver that accesses documents is guarded, and new ones are noticed', () => {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(mongo.Collection.prototype))
    .filter(([, descriptor]) => 'value' in descriptor)
    .map(([name]) => name);
  const touchNoDocument = [
    'constructor',
    'options',
    'isCapped',
    'rename',
    'drop',
    'createIndex',
    'createIndexes',
    'dropIndex',
    'dropIndexes',
    'listIndexes',
    'indexExists',
    'indexInformation',
    'indexes',
    'listSearchIndexes',
    'createSearchIndex',
    'createSearchIndexes',
    'dropSearchIndex',
    'updateSearchIndex',
  ];
  const checkedMethods = Object.getPrototypeOf(model.collection) as object;
  const unguarded = methods.filter((name) => !Object.hasOwn(checkedMethods, name));
  expect(unguarded.filter((name) => !touchNoDocument.includes(name))).toEqual([]);
});

test.each([
  ['estimatedDocumentCount', () => driver.estimatedDocumentCount()],
  ['watch', () => driver.watch()],
  ['initializeOrderedBulkOp', () => driver.initializeOrderedBulkOp()],
  ['initializeUnorderedBulkOp', () => driver.initializeUnorderedBulkOp()],
])('%s cannot name an account, and is refused', async (_, call) => {
  expect(await failureOf(call)).toBeInstanceOf(UnscopedQueryError);
});

test('an aggregation must name the account in its first stage', async () => {
  const late = () => driver.aggregate([{ $sort: { size: 1 } }, { $match: { userId: 'ada' } }]);
  expect(await failureOf(late)).toBeInstanceOf(UnscopedQueryError);
  expect(await failureOf(() => driver.aggregate([]))).toBeInstanceOf(UnscopedQueryError);
  expect(await failureOf(() => model.aggregate([{ $group: { _id: null } }]))).toBeInstanceOf(
    UnscopedQueryError,
  );
});

test('every write of a bulkWrite must name the account', async () => {
  const good = { updateOne: { filter: { userId: 'ada' }, update: set } };
  const bad = { deleteMany: { filter: { size: 1 } } };
  expect(await failureOf(() => driver.bulkWrite([good, bad]))).toBeInstanceOf(UnscopedQueryError);
  expect(await failureOf(() => model.bulkWrite([good, bad]))).toBeInstanceOf(UnscopedQueryError);
});

test('every document of an insert must name its account', async () => {
  const bad = { size: 1 } as Leaf & { _id: mongo.ObjectId }; // Its lack of userId is the test.
  const good = { userId: 'ada', size: 1, _id: new mongo.ObjectId() };
  expect(await failureOf(() => driver.insertMany([good, bad]))).toBeInstanceOf(UnscopedQueryError);
});

test("Mongoose's own inserts and saves of whole documents work", async () => {
  const userId = randomUUID();
  await model.create({ userId, size: 1 });
  await model.insertMany([
    { userId, size: 2 },
    { userId, size: 3 },
  ]);
  await new model({ userId, size: 4 }).save();
  expect(await model.countDocuments({ userId })).toBe(4);
});

test('a refused query throws where it is made, and affects no other', async () => {
  const userId = randomUUID();
  await driver.insertOne({ userId, size: 1, _id: new mongo.ObjectId() });
  const failure = await failureOf(() => driver.deleteMany({}));
  expect(String(failure)).toContain('Leaf.deleteMany must name the account');
  expect(await driver.countDocuments({ userId })).toBe(1);
});

test('a query of a tenant reads only its account, whatever its filter', async () => {
  const [userId, other] = [randomUUID(), randomUUID()];
  await model.create([
    { userId, size: 1 },
    { userId: other, size: 2 },
  ]);
  const filters: Filter[] = [{}, { userId: other }, { userId: { $type: 'string' } }];
  for (const filter of filters) {
    const found = await model.find(filter).of({ userId }).lean();
    expect(found.map(({ size }) => size)).toEqual([1]);
  }
  const all = await model.find({ userId: { $in: [userId, other] } }).acrossAccounts('a test');
  expect(all).toHaveLength(2);
});

test('shared data is not guarded', async () => {
  expect(await failureOf(() => database.model(shared).collection.findOne({}))).toBeUndefined();
  expect(await failureOf(() => database.model(shared).find({}))).toBeUndefined();
});
