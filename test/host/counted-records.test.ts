import { Schema } from 'mongoose';

import { Metrics } from '../../src/core/metrics';
import { accountModel } from '../../src/data/models';
import { counted } from '../../src/data/quotas';
import type { Transaction } from '../../src/data/transaction';
import { Database, freshDatabase } from '../support/program';

interface Leaf {
  _id: number;
  userId: string;
  colour: string;
  deletedAt: Date | null;
  pressedAt?: Date | null;
}

const fields = { _id: Number, userId: String, colour: String, deletedAt: Date, pressedAt: Date };
const leafModel = accountModel<Leaf>('Leaf', new Schema(fields, { collection: 'leaves' }));

/** How far the usage of an account has moved. */
let used = 0;
const counterOf = ({ quota }: Pick<typeof leafModel, 'quota'>) =>
  quota && {
    freedBy: quota.freedBy,
    move: (_scope: object, by: number) => {
      used += by;
    },
  };
const database = new Database(new Metrics(), { counterOf });
// Records ask a transaction for these alone.
const tx = { userId: 'ada', now: new Date() } as Transaction;

const leaf = (_id: number, colour: string): Leaf => ({
  ...{ _id, colour },
  ...{ userId: 'ada', deletedAt: null },
});

beforeAll(() => database.connect(freshDatabase()));
afterAll(async () => {
  await database.connection.dropDatabase();
  await database.close();
});
beforeEach(async () => {
  used = 0;
  await database.model(leafModel).collection.deleteMany({ userId: 'ada' });
});

test('each record that is added, deleted or brought back counts once, however it is done', async () => {
  const leaves = database.records(counted('leaves', leafModel));
  await leaves.insert(tx, leaf(1, 'green'));
  await leaves.insertBulk(tx, [leaf(2, 'green'), leaf(3, 'red'), leaf(4, 'red')]);
  expect(used).toBe(4);
  await leaves.softDelete(tx, { colour: 'green' });
  await leaves.softDelete(tx, { colour: 'green' });
  expect(used).toBe(2);
  await leaves.restore(tx, { _id: { $in: [1, 3] } });
  expect(used).toBe(3);
  expect(await leaves.deleteOne(tx, { _id: 2 })).toBe(true);
  expect(await leaves.deleteOne(tx, { _id: 2 })).toBe(false);
  expect(used).toBe(3);
  await leaves.softDelete(tx, { _id: 3 });
  await leaves.deleteMany(tx, { colour: 'red' });
  expect(used).toBe(1);
  await leaves.deleteOne(tx, { _id: 1 });
  expect(used).toBe(0);
});

test('records that are deleted softly keep their places where the model says so', async () => {
  const leaves = database.records(counted('leaves', leafModel, { freedBy: null }));
  await leaves.insertBulk(tx, [leaf(1, 'green'), leaf(2, 'red')]);
  await leaves.softDelete(tx, {});
  await leaves.restore(tx, { _id: 1 });
  expect(used).toBe(2);
  await leaves.deleteMany(tx, {});
  expect(used).toBe(0);
});

test('another field may free the places of records, and a change of it is counted', async () => {
  const leaves = database.records(counted('leaves', leafModel, { freedBy: 'pressedAt' }));
  const pressedAt = new Date();
  await leaves.insert(tx, { ...leaf(1, 'green'), pressedAt });
  await leaves.insertBulk(tx, [leaf(2, 'green'), { ...leaf(3, 'red'), pressedAt }, leaf(4, 'red')]);
  expect(used).toBe(2);
  const changed = await leaves.updateCounted(tx, { _id: 2 }, { pressedAt, colour: 'brown' });
  expect(changed).toMatchObject({ _id: 2, pressedAt, colour: 'brown' });
  await leaves.updateCounted(tx, { _id: 2 }, { pressedAt: new Date() });
  expect(used).toBe(1);
  await leaves.updateCounted(tx, { _id: 1 }, { pressedAt: null });
  expect(used).toBe(2);
  expect(await leaves.updateCounted(tx, { _id: 9 }, { pressedAt })).toBeUndefined();
  await leaves.softDelete(tx, { _id: 1 });
  expect(used).toBe(2);
  await leaves.deleteOne(tx, { _id: 2 });
  expect(used).toBe(2);
  await leaves.deleteMany(tx, { colour: 'red' });
  expect(used).toBe(1);
  const pressing = { $set: { pressedAt } };
  await expect(leaves.updateOne(tx, { _id: 1 }, pressing)).rejects.toThrow('updateCounted');
  await expect(leaves.updateEach(tx, [{ filter: {}, update: pressing }])).rejects.toThrow(
    'Counted',
  );
});

test('no record is added or deleted by a way that is not counted', async () => {
  const leaves = database.records(counted('leaves', leafModel));
  const update = { $set: { colour: 'green' } };
  const filter = { _id: 1 };
  await expect(leaves.upsert(tx, filter, update)).rejects.toThrow('not upserted');
  await expect(leaves.upsertMany(tx, [{ filter, update }])).rejects.toThrow('not upserted');
  const options = { upsert: true };
  await expect(leaves.findOneAndUpdate(tx, filter, update, options)).rejects.toThrow('upserted');
  const deleting = { $set: { deletedAt: new Date() } };
  await expect(leaves.updateOne(tx, filter, deleting)).rejects.toThrow('softDelete');
  await expect(leaves.updateWithoutRevision(tx, filter, deleting)).rejects.toThrow('softDelete');
});
