import { type ClientSession, Schema } from 'mongoose';

import { Metrics } from '../../src/core/metrics';
import { Database } from '../../src/data/mongodb/database';
import { accountModel } from '../../src/data/model/models';
import type { Transaction } from '../../src/data/writing/transaction';
import { WriteBuffer } from '../../src/data/writing/write-buffer';
import { freshDatabase } from '../support/databases';

interface Leaf {
  _id: number;
  userId: string;
  colour: string;
  deletedAt: Date | null;
  pressedAt?: Date | null;
}

const fields = { _id: Number, userId: String, colour: String, deletedAt: Date, pressedAt: Date };
const schema = () => new Schema(fields, { collection: 'leaves' });
const leafModel = accountModel<Leaf>('Leaf', schema(), { quota: 'leaves' });
const pressedModel = accountModel<Leaf>('Pressed', schema(), {
  quota: 'leaves',
  exemptedBy: 'pressedAt',
});

const database = new Database(new Metrics());
const leaves = database.model(leafModel);
/** The change in the usage of an account. */
let used = 0;
let session: ClientSession;
let buffer: WriteBuffer;
let tx: Transaction;

const insert = (...documents: readonly [_id: number, colour: string][]) =>
  leaves.bulkWrite(
    documents.map(([_id, colour]) => ({
      insertOne: { document: { _id, colour, userId: 'ada', deletedAt: null } },
    })),
    { session },
  );

beforeAll(() => database.connect(freshDatabase()));
afterAll(async () => {
  await database.connection.dropDatabase();
  await database.close();
});
beforeEach(async () => {
  await leaves.collection.deleteMany({ userId: 'ada' });
  used = 0;
  session = await database.connection.startSession();
  buffer = new WriteBuffer(session);
  const consume = (_quota: string, records: number): void => {
    used += records;
  };
  // Schema plugins only use these members of a transaction.
  tx = { userId: 'ada', session, consume } as unknown as Transaction;
  buffer.transactions.set('ada', tx);
});
afterEach(() => session.endSession());

test('each record counts once when it is added or deleted, however that is done', async () => {
  await insert([1, 'green']);
  await insert([2, 'green'], [3, 'red'], [4, 'red']);
  expect(used).toBe(4);
  await leaves.findOneAndDelete({ _id: 2 }).of(tx).lean();
  await leaves.findOneAndDelete({ _id: 2 }).of(tx).lean();
  expect(used).toBe(3);
  await leaves.deleteMany({ colour: 'red' }).of(tx);
  expect(used).toBe(1);
  expect(await leaves.countDocuments().of(tx)).toBe(1);
});

test('softly deleted records still count', async () => {
  await insert([1, 'green'], [2, 'red']);
  await leaves.updateMany({}, { $set: { deletedAt: new Date() } }).of(tx);
  await leaves.updateOne({ _id: 1 }, { $set: { deletedAt: null } }).of(tx);
  expect(used).toBe(2);
  await leaves.deleteMany({}).of(tx);
  expect(used).toBe(0);
});

test('records may stop counting while a field is set, and each change of it is counted', async () => {
  const pressed = database.model(pressedModel);
  const pressedAt = new Date();
  const leaf = { userId: 'ada', colour: 'green', deletedAt: null };
  await pressed.bulkWrite(
    [
      { insertOne: { document: { ...leaf, _id: 1, pressedAt } } },
      { insertOne: { document: { ...leaf, _id: 2 } } },
      { insertOne: { document: { ...leaf, _id: 3, colour: 'red', pressedAt } } },
      { insertOne: { document: { ...leaf, _id: 4, colour: 'red' } } },
    ],
    { session },
  );
  expect(used).toBe(2);
  const set = (_id: number, $set: Partial<Leaf>) => pressed.updateOne({ _id }, { $set }).of(tx);
  await set(2, { pressedAt, colour: 'brown' });
  await set(2, { pressedAt: new Date() });
  expect(used).toBe(1);
  await pressed
    .findOneAndUpdate({ _id: 1 }, { $set: { pressedAt: null } })
    .of(tx)
    .lean();
  expect(used).toBe(2);
  await set(9, { pressedAt });
  await set(1, { deletedAt: new Date() });
  expect(used).toBe(2);
  await pressed.findOneAndDelete({ _id: 2 }).of(tx).lean();
  expect(used).toBe(2);
  await pressed.deleteMany({ colour: 'red' }).of(tx);
  expect(used).toBe(1);
  const updateOne = { filter: { userId: 'ada' }, update: { $set: { pressedAt } } };
  const unseen = pressed.bulkWrite([{ updateOne }], { session });
  await expect(unseen).rejects.toThrow('are inserted by bulkWrite');
});

test('methods that would not be counted are refused', async () => {
  const filter = { _id: 1, userId: 'ada' };
  const document = { ...filter, colour: 'red', deletedAt: null };
  const update = { $set: { colour: 'green' } };
  const upsert = { session, upsert: true };
  const ways = [
    () => leaves.create([document], { session }),
    () => leaves.insertMany([document], { session }),
    () => leaves.updateOne(filter, update, upsert),
    () => leaves.findOneAndUpdate(filter, update, upsert),
    () => leaves.replaceOne(filter, document, upsert),
    () => leaves.findOneAndReplace(filter, document, upsert),
    () => leaves.deleteOne(filter, { session }),
    () => leaves.bulkWrite([{ updateOne: { filter, update, upsert: true } }], { session }),
    () => leaves.bulkWrite([{ deleteOne: { filter } }], { session }),
  ];
  for (const way of ways) await expect(way()).rejects.toThrow('are inserted by bulkWrite');
  await buffer.flushAll();
  expect(await leaves.countDocuments().of(tx)).toBe(0);
});

test('writes outside a transaction of the account are refused', async () => {
  const document = { _id: 1, userId: 'bob', colour: 'red', deletedAt: null };
  for (const options of [{ session }, {}]) {
    const inserted = leaves.bulkWrite([{ insertOne: { document } }], options);
    await expect(inserted).rejects.toThrow('in a transaction of their account');
  }
});
