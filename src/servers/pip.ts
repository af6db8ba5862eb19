import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, reasonOf } from './errors';
import { isRecord } from './json-file';

const execute = promisify(execFile);

const COMMANDS = [['python3', '-m', 'pip'], ['python', '-m', 'pip'], ['pip3'], ['pip']] as const;

const FETCH_LIMIT_MS = 5 * 60_000;

/**
 * Unpacks a wheel from PyPI into `folder` and returns where. Nothing of it is installed into a Python:
 * `--target` only unpacks, which also Pythons allow that are managed by the system.
 */
export async function unpackWheel(
  requirement: string,
  folder: string,
  options: string[] = [],
): Promise<string> {
  const target = join(folder, 'wheel');
  const failures: string[] = [];
  const tried = new Set<string>();
  for (const [program, ...prefix] of COMMANDS) {
    const which = [program, ...prefix].join(' ');
    try {
      // The same pip answers to several names: a failure of it is not waited for twice.
      const identity = await run(program, [...prefix, '--version'], folder, 30_000);
      if (tried.has(identity)) continue;
      tried.add(identity);
      await run(program, [...prefix, ...install(requirement, target), ...options], folder);
      return target;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') failures.push(`${which}: ${whyFailed(error)}`);
    }
  }
  throw new Error(failures.length > 0 ? failures.join('; ') : 'there is neither python3 nor pip');
}

function install(requirement: string, target: string): string[] {
  // Where the user set a timeout, the network may need it.
  const timeout = process.env['PIP_DEFAULT_TIMEOUT'] === undefined ? ['--timeout', '15'] : [];
  return [
    ...['install', '--quiet', '--no-deps', '--only-binary', ':all:', '--no-compile'],
    ...['--no-cache-dir', '--retries', '1', ...timeout],
    ...['--target', target, requirement],
  ];
}

async function run(
  program: string,
  args: string[],
  folder: string,
  timeout = FETCH_LIMIT_MS,
): Promise<string> {
  const env = {
    ...process.env,
    // What pip unpacks on the way is removed with the folder, even when pip is killed.
    TMPDIR: folder,
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_NO_INPUT: '1',
    PIP_ROOT_USER_ACTION: 'ignore',
    // Both would forbid --target, and neither is about unpacking.
    PIP_USER: '0',
    PIP_REQUIRE_VIRTUALENV: '0',
  };
  return (await execute(program, args, { env, timeout, cwd: folder })).stdout;
}

function whyFailed(error: unknown): string {
  const printed = isRecord(error) && typeof error['stderr'] === 'string' ? error['stderr'] : '';
  const lines = printed.split('\n').map((line) => line.trim());
  const told =
    lines.filter((line) => line.startsWith('ERROR:')).at(-1) ?? lines.filter(Boolean).at(-1);
  return told?.replace(/^ERROR:\s*/, '') ?? reasonOf(error);
}
