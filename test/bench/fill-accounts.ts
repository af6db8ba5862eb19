import type { Connection } from 'mongoose';

import { newId } from '../../src/core/ids';

/** Records inserted at once. */
const BATCH = 10_000;

/** Copies the data of an account until there are so many accounts. Only number and size are realistic:
 * references to plants and photos still refer to those of the first account.
 */
export async function fillWithAccounts(
  { db }: Connection,
  userId: string,
  accounts: number,
): Promise<void> {
  if (!db) throw new Error('There is no connection.');
  const others = Array.from({ length: accounts - 1 }, (_, index) => `${userId}-${index}`);
  const [account] = await db
    .collection<{ _id: string }>('accounts')
    .find({ _id: userId })
    .toArray();
  await db
    .collection<{ _id: string }>('accounts')
    .insertMany(others.map((_id) => ({ ...account, _id })));
  for (const name of ['plants', 'events', 'careMonths']) {
    const collection = db.collection(name);
    const records = await collection.find({ userId }).limit(20).toArray();
    let copies: object[] = [];
    for (const other of others) {
      for (const record of records) copies.push({ ...record, _id: newId(), userId: other });
      if (copies.length < BATCH) continue;
      await collection.insertMany(copies, { ordered: false });
      copies = [];
    }
    if (copies.length > 0) await collection.insertMany(copies, { ordered: false });
  }
}
