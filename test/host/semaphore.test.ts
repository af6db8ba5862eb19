import { setTimeout as sleep } from 'node:timers/promises';

import { Semaphore } from '../../src/core/semaphore';
import { within } from '../../src/core/timeout';
import { collectGarbage } from '../support/garbage';

test('no more work is in progress than there are places, and it begins in the order it came', async () => {
  const semaphore = new Semaphore(2);
  const begun: number[] = [];
  let inProgress = 0;
  let most = 0;
  const work = (number: number) => async () => {
    begun.push(number);
    inProgress += 1;
    most = Math.max(most, inProgress);
    await sleep(5);
    inProgress -= 1;
  };
  const numbers = Array.from({ length: 9 }, (_, index) => index);
  await Promise.all(numbers.map((number) => semaphore.run(work(number))));
  expect([most, begun]).toEqual([2, numbers]);
});

test('work that fails leaves its place', async () => {
  const semaphore = new Semaphore(1);
  const fail = async () => Promise.reject(new Error('no'));
  await expect(semaphore.run(fail)).rejects.toThrow('no');
  expect(await semaphore.run(async () => 'done')).toBe('done');
});

test('whose wait is ended has no place, and takes that of nobody', async () => {
  const semaphore = new Semaphore(1);
  await semaphore.enter();
  const ending = new AbortController();
  const given = semaphore.enter(() => [ending.signal]);
  const next = semaphore.enter();
  ending.abort();
  expect(await given).toBe(false);
  semaphore.leave();
  expect(await next).toBe(true);
});

test('a wait ends in time, whatever garbage is collected meanwhile', async () => {
  const semaphore = new Semaphore(1);
  await semaphore.enter();
  const { signal } = new AbortController();
  const given = semaphore.enter(() => [signal, AbortSignal.timeout(200)]);
  await sleep(20);
  collectGarbage();
  expect(await within(2000, given)).toBe(false);
});
