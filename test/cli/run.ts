import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { runCommand } from '../../src/cli/commands';
import { builtProgram } from '../support/built';

// Every command is a process of its own, and a test may run a dozen of them on a busy machine.
jest.setTimeout(120_000);

/** How a command ended, and what it said. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A command that is under way. */
export interface Running {
  process: ChildProcess;
  ended: Promise<Ended>;
}

let build: string | undefined;

/** Starts the built command line with nothing of this environment but what is given. */
export function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const { PATH, HOME, XDG_CACHE_HOME, MONGOD_BINARY } = process.env;
  build ??= builtProgram();
  const child = spawn(process.execPath, [path.join(build, 'src/cli/main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME, XDG_CACHE_HOME, MONGOD_BINARY, ...env },
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }));
  return { process: child, ended };
}

/**
 * Runs a command in this process, without any server to be had: it must not need one. A process
 * of its own takes a hundred times as long.
 */
export async function runAlone(...args: string[]): Promise<Ended> {
  const said = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    jest.spyOn(process[stream], 'write').mockImplementation((chunk) => {
      said[stream] += String(chunk);
      return true;
    }),
  );
  try {
    return { code: await runCommand(args, { DATA_DIR: '/nonexistent/data' }), ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Runs commands on a database. */
export class CommandLine {
  constructor(
    readonly mongodbUri: string,
    private readonly env: NodeJS.ProcessEnv = {},
  ) {}

  run(...args: string[]): Promise<Ended> {
    const servers = { MONGODB_URI: this.mongodbUri, REDIS_URL: process.env['TEST_REDIS_URL'] };
    return start(args, { ...servers, ...this.env }).ended;
  }

  /** What a command prints as JSON; it must do what it was asked for, and print nothing else. */
  async json(...args: string[]): Promise<unknown> {
    const { code, stdout, stderr } = await this.run(...args, '--json');
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
    expect(stdout).toMatch(/^[^\n]+\n$/);
    return JSON.parse(stdout);
  }

  /** What a command prints for people. */
  async text(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
    return stdout;
  }
}
