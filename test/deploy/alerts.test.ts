import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { DEPLOY } from './dockerfile';

const PROMETHEUS = path.join(DEPLOY, 'prometheus');

/** Unpacks promtool of Debian's package: nothing is installed, and nobody has to be root. */
function fetchPromtool(folder: string): string {
  mkdirSync(path.join(folder, 'lists/partial'), { recursive: true });
  const run = (file: string, ...args: string[]) =>
    execFileSync(file, args, { cwd: folder, stdio: 'pipe' });
  const own = ['-o', `Dir::State::lists=${folder}/lists`, '-o', `Dir::Cache=${folder}/cache`];
  run('apt-get', '-qq', ...own, 'update');
  run('apt-get', '-qq', ...own, 'download', 'prometheus');
  run('sh', '-c', 'dpkg -x prometheus_*.deb .');
  return path.join(folder, 'usr/bin/promtool');
}

describe('promtool finds', () => {
  let folder: string;
  let promtool: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'promtool-'));
    promtool = fetchPromtool(folder);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    [
      'no fault in how metrics are collected',
      ['check', 'config', '--syntax-only', 'prometheus.yml'],
    ],
    ['no fault in the rules', ['check', 'rules', 'alerts.yml']],
    ['that alerts fire when they should, and only then', ['test', 'rules', 'alerts.test.yml']],
  ])('%s', (_what, args) => {
    const { status, stdout, stderr } = spawnSync(promtool, args, {
      cwd: PROMETHEUS,
      encoding: 'utf8',
    });
    expect(status === 0 ? '' : stdout + stderr).toBe('');
  });
});

test('each alert is tried: that it fires, and that it does not', () => {
  const names = (file: string, pattern: RegExp) =>
    Array.from(
      readFileSync(path.join(PROMETHEUS, file), 'utf8').matchAll(pattern),
      ([, name]) => name,
    );
  const alerts = names('alerts.yml', /alert: (\w+)/g);
  expect(alerts.length).toBeGreaterThan(0);
  expect(names('alerts.test.yml', /- alertname: (\w+)\n.*\n +exp_alerts:/g)).toEqual(alerts);
  expect(new Set(names('alerts.test.yml', /\{ alertname: (\w+), eval_time/g))).toEqual(
    new Set(alerts),
  );
});
