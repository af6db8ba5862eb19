import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

import { BatchLookup } from '../../src/core/batch-lookup';

/** A look-up whose queries the test resolves. */
function lookup() {
  const queries: { keys: readonly string[]; end: () => void; fail: (error: Error) => void }[] = [];
  const values = new BatchLookup<string>((keys) => {
    return new Promise((resolve, reject) => {
      const found = keys.filter((key) => key !== 'nobody').map((key) => [key, `${key}!`] as const);
      const end = (): void => {
        resolve(new Map(found));
      };
      queries.push({ keys, end, fail: reject });
    });
  });
  return { values, queries };
}

test('concurrent look-ups share a query, and each gets its own value', async () => {
  const { values, queries } = lookup();
  const found = Promise.all(['ada', 'ben', 'ada', 'nobody'].map((key) => values.get(key)));
  await setImmediate();
  await setImmediate();
  expect(queries.map(({ keys }) => keys)).toEqual([['ada', 'ben', 'nobody']]);
  queries[0]?.end();
  expect(await found).toEqual(['ada!', 'ben!', 'ada!', undefined]);
});

test('keys that are requested during a query are part of the next one', async () => {
  const { values, queries } = lookup();
  const first = values.get('ada');
  await setImmediate();
  await setImmediate();
  const second = values.get('ada');
  queries[0]?.end();
  await first;
  while (queries.length < 2) await sleep(1);
  queries[1]?.end();
  expect(await second).toBe('ada!');
});

test('a query that hangs does not block others', async () => {
  const { values, queries } = lookup();
  void values.get('ada');
  await setImmediate();
  await setImmediate();
  const second = values.get('ben');
  while (queries.length < 2) await sleep(1);
  queries[1]?.end();
  expect(await second).toBe('ben!');
});

test('a query that fails rejects only the look-ups that share it', async () => {
  const { values, queries } = lookup();
  const failed = Promise.allSettled([values.get('ada'), values.get('ben')]);
  await setImmediate();
  await setImmediate();
  queries[0]?.fail(new Error('away'));
  expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const next = values.get('ada');
  while (queries.length < 2) await sleep(1);
  queries[1]?.end();
  expect(await next).toBe('ada!');
});

test('a query without a response is sent again', async () => {
  const { values, queries } = lookup();
  const found = values.get('ada');
  while (queries.length < 2) await sleep(10);
  expect(queries[1]?.keys).toEqual(['ada']);
  queries[1]?.end();
  expect(await found).toBe('ada!');
});
