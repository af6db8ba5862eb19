import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { runAlone } from './run';
import { builtProgram, freshDatabase } from '../support/program';
import { CAN_MOUNT, mountTmpfs } from '../support/tmpfs';

test('openapi prints the document that the server serves, without a server', async () => {
  const { code, stdout, stderr } = await runAlone('openapi');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    openapi: '3.1.0',
    paths: { '/api/plants': { get: { operationId: 'listPlants' } } },
  });
  const line = await runAlone('openapi', '--json');
  expect(line.stdout).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(line.stdout)).toEqual(JSON.parse(stdout));
});

test.each([['openapi'], ['audit export']])(
  '%s fails with one sentence if its result cannot be written',
  (name) => {
    const main = path.join(builtProgram(), 'src/cli/main.js');
    const env = {
      ...process.env,
      MONGODB_URI: freshDatabase(),
      REDIS_URL: process.env['TEST_REDIS_URL'],
    };
    const type = (command: string) =>
      spawnSync('bash', ['-c', `exec "$0" "$1" ${command}`, process.execPath, main], {
        encoding: 'utf8',
        env,
      });
    // Something to export.
    expect(type('token create --user ada').status).toBe(0);
    const { status, stderr } = type(`${name} > /dev/full`);
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^The result cannot be written: [^\n]*no space left on device[^\n]*\.\n$/,
    );
  },
);

(CAN_MOUNT ? test : test.skip)('a result that fills the disk is a failure, not cut short', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'plant-care-'));
  const unmount = mountTmpfs(folder, 'size=16k');
  try {
    const main = path.join(builtProgram(), 'src/cli/main.js');
    const command = `exec "$0" "$1" openapi > '${folder}/openapi.json'`;
    const { status, stderr } = spawnSync('bash', ['-c', command, process.execPath, main], {
      encoding: 'utf8',
    });
    expect(stderr).toMatch(/^The result cannot be written: [^\n]*no space left on device/);
    expect(status).toBe(1);
  } finally {
    unmount();
    rmSync(folder, { recursive: true });
  }
});
