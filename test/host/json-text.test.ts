import { setImmediate } from 'node:timers/promises';

import { jsonText } from '../../src/core/text/json';

const event = { id: 1, text: 'Rain\u0001water', at: new Date(0), photos: [], none: undefined };
const list = Array.from({ length: 20_000 }, (_, id) => ({ ...event, id }));

test.each<[string, unknown]>([
  ['a record', event],
  ['null', null],
  ['an empty list', []],
  ['a short list', list.slice(0, 3)],
  ['a long list', list],
  [
    'a record with a long list',
    { items: list, hasMore: false, nextCursor: undefined, at: event.at },
  ],
  ['a record with a record with a long list', { within: { list, count: list.length }, event }],
])('%s is serialized like JSON.stringify', async (_what, value) => {
  expect(await jsonText(value)).toBe(JSON.stringify(value));
});

test('a long text yields to the event loop while it is serialized', async () => {
  const state = { isMade: false };
  const made = jsonText({ items: list }).then(() => {
    state.isMade = true;
  });
  let turns = 0;
  for (; !state.isMade; turns += 1) await setImmediate();
  await made;
  // 2 MB, of which at most 16 KB are serialized per turn.
  expect(turns).toBeGreaterThan(50);
});
