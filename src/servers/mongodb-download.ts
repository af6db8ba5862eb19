import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { reasonOf } from './errors';

// Closed networks are the normal case: where nothing arrives within this time, other sources serve.
const FIRST_BYTE_MS = 4_000;
const WHOLE_MS = 10 * 60_000;

// The library prints its progress on stdout and offers no way to give up, so it runs in a process of
// its own that can be listened to and ended.
const PROGRAM = `
const [library, downloadDir] = process.argv.slice(1);
const { MongoBinary } = require(library);
MongoBinary.getPath({ downloadDir }).then(
  (path) => console.log('PATH ' + path),
  (error) => { console.error(error.message); process.exitCode = 1; },
);`;

/** Downloads mongod from MongoDB into the folder and returns its path. */
export async function downloadMongod(folder: string): Promise<string> {
  const library = require.resolve('mongodb-memory-server-core');
  const child = spawn(process.execPath, ['-e', PROGRAM, library, folder], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      MONGOMS_DOWNLOAD_DIR: folder,
      MONGOMS_MAX_RETRIES: '1',
      // Only with this does the library check the certificate of the server.
      npm_config_strict_ssl: 'true',
    },
  });
  return new Promise((resolve, reject) => {
    let path: string | undefined;
    let complaint = '';
    let givenUp: string | undefined;
    const giveUpAfter = (ms: number, why: string): NodeJS.Timeout =>
      setTimeout(() => {
        givenUp = why;
        child.kill('SIGKILL');
      }, ms);
    const first = giveUpAfter(FIRST_BYTE_MS, `nothing arrived within ${FIRST_BYTE_MS / 1000} s`);
    const whole = giveUpAfter(WHOLE_MS, 'it took too long');
    createInterface(child.stdout).on('line', (line) => {
      clearTimeout(first);
      if (line.startsWith('PATH ')) path = line.slice('PATH '.length);
    });
    child.stderr.on('data', (text: Buffer) => {
      complaint += text.toString();
    });
    child.once('error', reject);
    child.once('close', () => {
      clearTimeout(first);
      clearTimeout(whole);
      if (path === undefined) reject(new Error(givenUp ?? lastLine(complaint)));
      else resolve(path);
    });
  });
}

function lastLine(text: string): string {
  return reasonOf(text.trim().split('\n').at(-1) ?? '');
}
