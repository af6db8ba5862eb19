import { setImmediate } from 'node:timers/promises';

import { yieldToEventLoop } from '../../src/core/async';

test('callers that yield get turns of the event loop one by one, in order', async () => {
  const begun: number[] = [];
  const callers = [0, 1, 2].map((caller) => yieldToEventLoop().then(() => begun.push(caller)));
  const lengths: number[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    await setImmediate();
    lengths.push(begun.length);
  }
  await Promise.all(callers);
  expect(begun).toEqual([0, 1, 2]);
  expect(lengths.every((length, turn) => length - (lengths[turn - 1] ?? 0) <= 1)).toBe(true);
});
