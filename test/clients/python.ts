import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Python with packages of its own.
 *
 * @param folder the folder that holds it, shared by the tests of a file
 */
export async function pythonWith(folder: string, packages: readonly string[]): Promise<string> {
  const home = path.join(folder, packages.join('-').replace(/[^\w.-]/g, '_'));
  const program = path.join(home, 'bin', 'python');
  if (existsSync(program)) return program;
  await run('python3', ['-m', 'venv', home]);
  const quietly = ['--quiet', '--disable-pip-version-check'];
  await run(program, ['-m', 'pip', 'install', ...quietly, ...packages]);
  return program;
}

/** The JSON that a script in `agents/` prints. */
export async function answerOf(
  python: string,
  script: string,
  ...args: string[]
): Promise<unknown> {
  const { stdout } = await run(python, [path.join(__dirname, 'agents', script), ...args]);
  return JSON.parse(stdout);
}
