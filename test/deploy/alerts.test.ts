import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { DEPLOY } from './dockerfile';
import { fetchPackages } from './packages';

const PROMETHEUS = path.join(DEPLOY, 'prometheus');

describe('promtool finds', () => {
  let folder: string;
  let promtool: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'promtool-'));
    fetchPackages(folder, 'prometheus');
    promtool = path.join(folder, 'usr/bin/promtool');
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

test('each alert has a test in which it fires, and one in which it does not', () => {
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
