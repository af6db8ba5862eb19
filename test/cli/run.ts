import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import type { Ended } from '../support/run-command';

import type { Plugin } from '../../src/plugins/plugin';
import { runCommandHere, builtProgram } from '../support/program';

export type { Ended } from '../support/run-command';

/** A command in progress. */
interface Running {
  process: ChildProcess;
  ended: Promise<Ended>;
}

let build: string | undefined;

/** Runs its arguments in a terminal of its own, and exits with the same code. */
const TERMINAL = [
  'python3',
  '-c',
  'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))',
];

interface StartOptions {
  nodeOptions?: readonly string[];
  /** A command prefix that runs the program. */
  through?: readonly string[];
}

/** Starts the built command line with only the given environment. */
export function start(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { nodeOptions = [], through = [] }: StartOptions = {},
): Running {
  const { PATH, HOME, XDG_CACHE_HOME, MONGOD_BINARY } = process.env;
  build ??= builtProgram();
  const main = path.join(build, 'src/cli/main.js');
  const [command = '', ...rest] = [...through, process.execPath, ...nodeOptions, main, ...args];
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME, XDG_CACHE_HOME, MONGOD_BINARY, ...env },
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }));
  return { process: child, ended };
}

/** Runs a command in this process, as test/support/run-command.ts says. */
export const run = runCommandHere;

/** Runs a command while no server is available, so it must not need one. */
export function runAlone(...args: string[]): Promise<Ended> {
  return run(args, { DATA_DIR: '/nonexistent/data' });
}

/** Runs commands on a database. */
export class CommandLine {
  readonly #env: NodeJS.ProcessEnv;
  readonly #plugins: readonly Plugin[] | undefined;

  constructor(
    readonly mongodbUri: string,
    env: NodeJS.ProcessEnv = {},
    plugins?: readonly Plugin[],
  ) {
    this.#plugins = plugins;
    this.#env = { MONGODB_URI: mongodbUri, REDIS_URL: process.env['TEST_REDIS_URL'], ...env };
  }

  run(...args: string[]): Promise<Ended> {
    return run(args, this.#env, this.#plugins);
  }

  /** Runs a built command in a process of its own, as a shell does. */
  runBuilt(...args: string[]): Promise<Ended> {
    return start(args, this.#env).ended;
  }

  /** Runs a built command in a terminal, whose output is returned as standard output. */
  runInTerminal(...args: string[]): Promise<Ended> {
    return start(args, this.#env, { through: TERMINAL }).ended;
  }

  /** The JSON that a command prints; it must succeed and print nothing else. */
  async json(...args: string[]): Promise<unknown> {
    return resultOf(await this.run(...args, '--json'));
  }

  /** The text that a command prints for people. */
  async text(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
    return stdout;
  }
}

/** The result of a command that must succeed and print nothing else. */
export function resultOf({ code, stdout, stderr }: Ended): unknown {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^[^\n]+\n$/);
  return JSON.parse(stdout);
}
