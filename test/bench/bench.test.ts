import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import type { Report } from './report';
import { freshDatabase } from '../support/program';

const ROOT = path.resolve(__dirname, '../..');

test('make bench finds the same answers everywhere, and writes what it measured', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'plant-care-bench-docs-'));
  const servers = { MONGODB_URI: freshDatabase(), REDIS_URL: process.env['TEST_REDIS_URL'] };
  // Long enough for each connection to send a request.
  const short = {
    BENCH_ACCOUNTS: '1',
    BENCH_SECONDS: '0.01',
    BENCH_ROUNDS: '1',
    BENCH_CONNECTIONS: '2',
    BENCH_EVENTS: '300',
  };
  const env = { ...process.env, ...servers, ...short, BENCH_DOCS: folder };
  await promisify(execFile)('make', ['bench'], { cwd: ROOT, env });
  const written = (ending: string) => readFile(path.join(folder, `performance.${ending}`), 'utf8');
  const report = JSON.parse(
    await readFile(path.join(folder, 'performance.json'), 'utf8'),
  ) as Report;
  for (const { perSecond, ratio, cpuMicroseconds } of report.rows) {
    expect([perSecond, ratio, cpuMicroseconds].every((figure) => figure >= 0)).toBe(true);
  }
  expect(await written('md')).toContain('| list of 50 plants | this server, hot |');
  expect(await written('svg')).toContain('</svg>');
  await rm(folder, { recursive: true });
});
