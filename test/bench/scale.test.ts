import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.resolve(__dirname, '../..');

/** Seconds instead of a quarter of an hour. */
const SHORT = {
  SCALE_EVENTS: '100,200',
  SCALE_ACCOUNTS: '2,4',
  SCALE_DELETED_EVENTS: '100',
  SCALE_ROUNDS: '1',
  SCALE_REPEATS: '1',
  SCALE_SECONDS: '0.01',
};

test('make bench-scale writes how times grow', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'plant-care-scale-docs-'));
  const env = { ...process.env, ...SHORT, BENCH_DOCS: folder };
  await promisify(execFile)('make', ['bench-scale'], { cwd: ROOT, env });
  const written = await readFile(
    path.format({ dir: folder, name: 'performance-scale', ext: 'md' }),
    'utf8',
  );
  expect(written).toContain('100 events | 200 events | ratio |');
  expect(written).toMatch(/\| create event \| [\d.]+ \| [\d.]+ \| [\d.]+ \|/);
  expect(written).not.toContain('NaN');
  await rm(folder, { recursive: true });
});
