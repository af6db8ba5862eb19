import { setImmediate } from 'node:timers/promises';

import { jsonText } from '../../src/core/text/json-array';

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
])('%s has the text that JSON.stringify makes', async (_what, value) => {
  expect(await jsonText(value)).toBe(JSON.stringify(value));
});

test('others have their turns while a long text is made', async () => {
  const state = { isMade: false };
  const made = jsonText({ items: list }).then(() => {
    state.isMade = true;
  });
  let turns = 0;
  for (; !state.isMade; turns += 1) await setImmediate();
  await made;
  // 2 MB, of which no more than 16 KB are made in a turn.
  expect(turns).toBeGreaterThan(50);
});
