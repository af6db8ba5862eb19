import { Schema } from 'mongoose';

import { Metrics } from '../../src/core/metrics';
import { batchesOf } from '../../src/data/model/batches';
import { Database } from '../../src/data/mongodb/database';
import { sharedModel } from '../../src/data/model/models';
import { freshDatabase } from '../support/databases';

interface Page {
  number: number;
  text: string;
}

const fields = { number: Number, text: String };
const pages = sharedModel<Page>(
  'Page',
  'for tests',
  { oneShard: 'for tests' },
  new Schema<Page>(fields, { collection: 'pages', versionKey: false }),
);
const database = new Database(new Metrics());
const model = database.model(pages);

beforeAll(() => database.connect(freshDatabase()));
afterAll(async () => {
  await database.connection.dropDatabase();
  await database.close();
});

const MEGABYTE = 2 ** 20;
const NUMBERS = Array.from({ length: 100 }, (_, index) => index);

test.each([
  { size: 'small', length: 1, count: 100 },
  // MongoDB sends at most 16 MB at once.
  { size: 'large', length: 7 * MEGABYTE, count: 5 },
])('all records that are $size are found, in order', async ({ length, count }) => {
  await model.deleteMany();
  const text = 'x'.repeat(length);
  for (const number of NUMBERS.slice(0, count).reverse()) await model.create({ number, text });
  const found: number[] = [];
  for await (const batch of batchesOf<Page>(model.find().sort({ number: 1 }))) {
    expect(batch.length).toBeLessThanOrEqual(64);
    found.push(...batch.map(({ number }) => number));
  }
  expect(found).toEqual(NUMBERS.slice(0, count));
});

test('errors of a query are thrown', async () => {
  const batches = batchesOf<Page>(model.find({ colour: 'red' } as object));
  await expect(batches.next()).rejects.toThrow('colour');
});
