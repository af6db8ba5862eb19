import { spawnSync } from 'node:child_process';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');

// Like an older Node, it cannot `require` ES modules.
const env: NodeJS.ProcessEnv = {
  ...process.env,
  NODE_OPTIONS: '--no-experimental-require-module',
  // The tests may be run by make, and a make within another says so in its messages.
  MAKELEVEL: '',
  MAKEFLAGS: '',
};

test.each([
  ['the server', 'node', ['dist-test/src/main.js']],
  ['the command line', 'node', ['dist-test/src/cli/main.js', 'doctor']],
  ['make install', 'make', ['--silent', 'install']],
  ['make run', 'make', ['--silent', 'run']],
  ['make test', 'make', ['--silent', 'test']],
])('on an old Node, %s says in one sentence which it needs', (_what, command, args) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, env, encoding: 'utf8' });
  const said = stderr.split('\n').filter((line) => !line.startsWith('make: '));
  expect(said).toEqual([
    `plant-care-api needs Node 20.19 or later (22.13 or later of Node 22); this is ${process.versions.node}.`,
    '',
  ]);
  expect({ status: status === 0, stdout }).toEqual({ status: false, stdout: '' });
});
