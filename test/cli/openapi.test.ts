import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { builtProgram } from '../support/built';
import { runAlone } from './run';

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

test('a result that cannot be written is a failure, in one sentence', () => {
  const main = path.join(builtProgram(), 'src/cli/main.js');
  const command = ['-c', 'exec "$0" "$1" openapi > /dev/full', process.execPath, main];
  const { status, stderr } = spawnSync('bash', command, { encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^The result cannot be written: [^\n]*no space left on device[^\n]*\.\n$/);
});
