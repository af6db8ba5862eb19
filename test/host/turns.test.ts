import { setImmediate } from 'node:timers/promises';

import { Turns } from '../../src/core/turns';

test('callers of one kind get turns of the event loop one by one, in their order', async () => {
  const turns = new Turns(1);
  const begun: number[] = [];
  const callers = [0, 1, 2].map((caller) => turns.next('ada').then(() => begun.push(caller)));
  const seen: number[][] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    await setImmediate();
    seen.push([...begun]);
  }
  await Promise.all(callers);
  expect(seen[0]).toEqual([0]);
  expect(seen.at(-1)).toEqual([0, 1, 2]);
  const lengths = seen.map(({ length }) => length);
  expect(lengths.slice(1).every((length, turn) => length - (lengths[turn] ?? 0) <= 1)).toBe(true);
});

test('a caller of another kind does not wait', async () => {
  const turns = new Turns(1);
  await turns.next('ada');
  const isBegun: string[] = [];
  void turns.next('ada').then(() => isBegun.push('ada'));
  await turns.next('bob');
  expect(isBegun).toEqual([]);
  await setImmediate();
  await setImmediate();
  expect(isBegun).toEqual(['ada']);
});
