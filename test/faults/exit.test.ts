import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { builtProgram } from '../support/program';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'exit-test-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Runs a script with `exit`, the module under test; returns how it ended. */
async function endOf(script: string): Promise<unknown[]> {
  const module = JSON.stringify(path.join(builtProgram(), 'src/app/process.js'));
  const child = spawn(process.execPath, ['-e', `const exit = require(${module}); ${script}`], {
    stdio: 'ignore',
  });
  return once(child, 'exit');
}

test('a process with nothing left to do exits with its own code', async () => {
  const script = 'exit.exitWithin(60_000); exit.prepareExit().then(() => process.exit(3));';
  expect(await endOf(script)).toEqual([3, null]);
});

test('a file that never opens does not prevent a process from exiting', async () => {
  const pipe = path.join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const open = `require('fs').open(${JSON.stringify(pipe)}, 'r', () => undefined);`;
  const end = await endOf(`${open} exit.prepareExit().then(() => process.exit(0));`);
  expect(end).toEqual([null, 'SIGKILL']);
});

test('a main thread that waits for ever does not prevent a process from exiting', async () => {
  const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);';
  const end = await endOf(`exit.exitWithin(1000); setTimeout(() => { ${wait} }, 100);`);
  expect(end).toEqual([null, 'SIGKILL']);
});
