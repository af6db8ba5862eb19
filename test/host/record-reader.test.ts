import { Schema } from 'mongoose';

import { Metrics } from '../../src/core/metrics';
import { sharedModel } from '../../src/data/models';
import { Database, freshDatabase } from '../support/program';

interface Page {
  number: number;
  text: string;
}

const fields = { number: Number, text: String };
const pages = sharedModel<Page>(
  'Page',
  'for tests',
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

test.each([
  { size: 'small', length: 1 },
  // A batch has 16 MB at most.
  { size: 'large', length: 7 * MEGABYTE },
])('records that are $size are found lazily, in their order, up to the limit', async (given) => {
  await model.deleteMany();
  const text = 'x'.repeat(given.length);
  for (const number of [3, 1, 4, 2]) await model.create({ number, text });
  const options = { sort: { number: 1 }, limit: 3 } as const;
  const found = await database.records(pages).findLazily({}, {}, options);
  expect(Array.from(found, ({ number }) => number)).toEqual([1, 2, 3]);
});
