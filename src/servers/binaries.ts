import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, reasonOf } from './errors';
import { isRecord } from './json-file';

const execute = promisify(execFile);

/** A server program that was seen to run here. */
export interface Binary {
  path: string;
  version: string;
  /** Completes "MongoDB 6.0.5, …": where it comes from. */
  origin: string;
}

/** A place where a binary may come from; `find` throws the reason when it does not. */
export interface Source {
  name: string;
  find: () => Promise<Binary>;
}

/** Why a source did not serve. */
export interface Failure {
  source: string;
  reason: string;
}

/** The binary of the first source that serves, or why each did not. */
export async function firstThatServes(sources: Source[]): Promise<Binary | Failure[]> {
  const failures: Failure[] = [];
  for (const source of sources) {
    try {
      return await source.find();
    } catch (error) {
      failures.push({ source: source.name, reason: reasonOf(error) });
    }
  }
  return failures;
}

/** Whether the path is a file that this user may run. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Where the shell would find a program. */
export async function findOnPath(program: string): Promise<string> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, program);
    if (folder !== '' && (await isExecutable(path))) return path;
  }
  throw new Error(`there is no ${program}`);
}

/** Runs `PATH --version`, so that a binary that cannot run here is known before it is relied on. */
export async function checkBinary(path: string, origin: string): Promise<Binary> {
  let output: string;
  try {
    output = (await execute(path, ['--version'], { timeout: 15_000, env: process.env })).stdout;
  } catch (error) {
    throw new Error(`${path} does not run here: ${whyNotRun(error)}`, { cause: error });
  }
  const version = /v=?(\d+\.\d+\.\d+)/.exec(output)?.[1];
  if (version === undefined) throw new Error(`${path} does not tell its version`);
  return { path, version, origin };
}

function whyNotRun(error: unknown): string {
  if (!isRecord(error)) return reasonOf(error);
  const printed = typeof error['stderr'] === 'string' ? error['stderr'].trim() : '';
  const lastLine = printed.split('\n').at(-1);
  if (lastLine !== undefined && lastLine !== '') return lastLine;
  if (typeof error['signal'] === 'string') {
    const hint =
      error['signal'] === 'SIGILL' ? ' (this processor lacks what it needs, perhaps AVX)' : '';
    return `it was ended by ${error['signal']}${hint}`;
  }
  return codeOf(error) ?? reasonOf(error);
}
