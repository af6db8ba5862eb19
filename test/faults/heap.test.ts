import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { scripts } from '../../package.json';

/** Replaces long-lived objects, and prints the peak size of the heap in MB. */
const REPLACE = `
  const live = [];
  let peak = 0;
  for (let round = 0; round < 3_000_000; round += 1) {
    live[round % 300_000] = { text: 'of round ' + round };
    if (round % 10_000 === 0) peak = Math.max(peak, process.memoryUsage().heapTotal);
  }
  console.log(peak / 1e6);
`;

function peakOf(prelude: string, ...options: string[]): number {
  const register = path.resolve(__dirname, '../servers/register.cjs');
  const args = [...options, '--require', register, '--eval', `${prelude};${REPLACE}`];
  return Number(spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout);
}

test('a server collects garbage before most of its memory is garbage', () => {
  const heap = path.resolve(__dirname, '../../src/app/process');
  const usual = peakOf('');
  const [, option = ''] = scripts.start.split(' ');
  const limited = peakOf(`require(${JSON.stringify(heap)}).limitHeapGrowth()`, option);
  expect(limited).toBeGreaterThan(0);
  expect(limited / usual).toBeLessThan(0.8);
});
