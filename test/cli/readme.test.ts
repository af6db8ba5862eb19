import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { scripts } from '../../package.json';
import { CLI, FAILING_CURL, npmFor, REFERENCES, commandsOf } from '../support/documented-commands';
import { freePort, until } from '../support/processes';
import {
  giveBack,
  takeDatabase,
  dataDirectory,
  removeDataDirectory,
  runningServers,
} from '../support/program';

const ROOT = path.resolve(__dirname, '../..');
/** These have a test of their own, or run this one. */
const APART = ['make run', 'make test'];

interface RunningCommand {
  child: ChildProcess;
  output: string;
  ended: Promise<unknown>;
  /** To everything that the command has started, as from a terminal. */
  signal: (name: NodeJS.Signals) => void;
}

const typed: RunningCommand[] = [];

/** Runs a command as a person types it, in the project's folder. */
function type(command: string, env: NodeJS.ProcessEnv): RunningCommand {
  const { PATH, HOME, XDG_CACHE_HOME, MONGOD_BINARY } = process.env;
  const child = spawn('bash', ['-euo', 'pipefail', '-c', command], {
    cwd: ROOT,
    // A group of its own, as a terminal makes one.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME, XDG_CACHE_HOME, MONGOD_BINARY, ...env },
  });
  const running: RunningCommand = {
    child,
    output: '',
    ended: once(child, 'close'),
    signal: (name) => {
      if (child.pid === undefined) throw new Error(`${command} was not started.`);
      process.kill(-child.pid, name);
    },
  };
  typed.push(running);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (running.output += chunk.toString()));
  }
  return running;
}

let dataDir: string;

beforeEach(async () => {
  dataDir = await dataDirectory();
});
afterEach(async () => {
  for (const { child, ended, signal } of typed.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) signal('SIGKILL');
    await ended;
  }
  await removeDataDirectory(dataDir);
});

// A build during the tests would replace the program that they run.
beforeAll(async () => {
  const { child, ended } = type('make --question build', {});
  await ended;
  if (child.exitCode !== 0) throw new Error('The build is out of date; run make build first.');
});

test('every command of the README and the references works as written, from make run to Ctrl-C', async () => {
  const port = await freePort();
  const env = { DATA_DIR: dataDir, PORT: String(port) };
  const commands = REFERENCES.flatMap(commandsOf);
  expect(commands).toEqual(expect.arrayContaining(APART));
  const running = type('make run', env);
  const curl = /^ {2}(curl -H 'Authorization: Bearer (tnd_mcp_\w+)' \S+)$/m;
  await until(() => curl.test(running.output) || running.child.exitCode !== null);
  const [, example = '', token = ''] = curl.exec(running.output) ?? [];
  if (example === '') throw new Error(`No curl line was printed: ${running.output}`);

  const others = commands.filter((command) => !APART.includes(command));
  const [first = -1] = others.flatMap((command, index) => (command.startsWith(CLI) ? [index] : []));
  // npm itself runs for the first command and for those of make; the others run without it, which is faster.
  others.splice(first + 1, 0, npmFor(scripts.cli));
  const script = [
    FAILING_CURL,
    ...[example, ...others].map((command) =>
      command.replaceAll(/(localhost|127\.0\.0\.1):3000/g, `127.0.0.1:${port}`),
    ),
  ].join('\n');
  const all = type(script, { ...env, TOKEN: token });
  expect({ end: await all.ended, output: all.output }).toMatchObject({ end: [0, null] });
  expect(all.output).toMatch(/"name":"Monty"[^]*"structuredContent":/);

  // As Ctrl-C in a terminal, which reaches all of them.
  running.signal('SIGINT');
  await running.ended;
  expect(await runningServers(dataDir)).toEqual([]);
});

test('make bench-tools compares each tool with its REST operation', async () => {
  const uri = takeDatabase();
  const servers = { MONGODB_URI: uri, REDIS_URL: process.env['TEST_REDIS_URL'] };
  const bench = type('make bench-tools', { BENCH_ROUNDS: '5', ...servers });
  await bench.ended;
  await giveBack(uri);
  for (const tool of ['get_plant', 'list_plants', 'list_events', 'update_plant']) {
    expect(bench.output).toMatch(new RegExp(`^${tool}( +-?\\d+\\.\\d{3}){5}$`, 'm'));
  }
});
