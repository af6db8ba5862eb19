import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { PROJECT_FOLDER } from '../../src/core/settings/project';
import { until, freePort } from '../support/processes';
import { DEPLOY, stagesOf, textsOf } from './dockerfile';
import { freshDatabase, TcpProxy } from '../support/program';

/** A user other than root; only root needs to switch. */
const OTHER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
/** Variables that name folders of the user who runs the tests. */
const OWN = /^(HOME|XDG_\w+|NODE_ENV|npm_config_(cache|userconfig|prefix|global_prefix))$/;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'image-test-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !OWN.test(name));
  return { ...Object.fromEntries(kept), HOME: folder, ...more };
}

/** Runs a COPY: copies all arguments but the last to the last. */
function copy(text: string, from: string, to: string): void {
  const words = text.split(' ').filter((word) => !word.startsWith('--'));
  const target = words.pop() ?? '';
  for (const word of words) {
    const place = target.endsWith('/') ? path.join(target, path.basename(word)) : target;
    // Files of another stage are named by their path in that stage.
    const source = path.join(from, word.replace(/^\/app\//, ''));
    cpSync(source, path.join(to, place), { recursive: true });
  }
}

/** The files that .dockerignore does not exclude. */
function copyContext(to: string): void {
  const lines = readFileSync(path.join(DEPLOY, 'Dockerfile.dockerignore'), 'utf8').split('\n');
  const startingWith = (start: string): string[] =>
    lines.flatMap((line) => (line.startsWith(start) ? line.slice(start.length) : []));
  const ignored = startingWith('**/').map(
    (name) => new RegExp(`^${name.replaceAll('.', '[.]').replaceAll('*', '.*')}$`),
  );
  for (const name of startingWith('!')) {
    cpSync(path.join(PROJECT_FOLDER, name), path.join(to, name), {
      recursive: true,
      filter: (file) => !ignored.some((pattern) => pattern.test(path.basename(file))),
    });
  }
}

/** Makes the other user the owner of all files. */
function handOver(): void {
  if (OTHER) execFileSync('chown', ['-R', `${OTHER.uid}:${OTHER.gid}`, folder]);
}

/** Runs the Dockerfile as the other user; returns the folder of the image. */
function buildImage([build = [], image = []]: ReturnType<typeof stagesOf>): string {
  const context = path.join(folder, 'context');
  const app = path.join(folder, 'build');
  const final = path.join(folder, 'image');
  copyContext(context);
  for (const { name, text } of build) {
    if (name === 'COPY') copy(text, context, app);
    handOver();
    if (name === 'RUN') {
      execFileSync('sh', ['-c', text], { cwd: app, stdio: 'pipe', env: environment(), ...OTHER });
    }
  }
  for (const text of textsOf(image, 'COPY')) {
    copy(text, text.includes('--from=build') ? app : context, final);
  }
  return final;
}

/** The variables that an image sets. */
function settingsOf(image: ReturnType<typeof stagesOf>[number]): NodeJS.ProcessEnv {
  const pairs = textsOf(image, 'ENV').flatMap((text) => text.split(' '));
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', value = ''] = pair.split('=');
      return [name, value];
    }),
  );
}

/** Whether a program exits with 0. */
async function isWell(child: ChildProcess): Promise<boolean> {
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

test('the steps of the Dockerfile build a program that another user can run', async () => {
  const stages = stagesOf();
  const image = stages[1] ?? [];
  const cwd = buildImage(stages);
  for (const tool of ['typescript', 'jest', '@swc/core', 'oxlint']) {
    expect([tool, existsSync(path.join(cwd, 'node_modules', tool))]).toEqual([tool, false]);
  }

  const port = String(await freePort());
  const { proxy: mongodb, uri } = await TcpProxy.before(freshDatabase());
  const redis = await TcpProxy.start(process.env['TEST_REDIS_URL'] ?? '');
  const env = environment({
    ...settingsOf(image),
    HOST: '127.0.0.1',
    PORT: port,
    DATA_DIR: path.join(folder, 'data'),
    MONGODB_URI: uri,
    REDIS_URL: `redis://127.0.0.1:${redis.port}`,
  });
  // Not synchronously: the proxies run in this process.
  const run = (...args: string[]): ChildProcess =>
    spawn(process.execPath, args, { cwd, env, stdio: 'pipe', ...OTHER });
  const server = run(...(JSON.parse(textsOf(image, 'CMD')[0] ?? '[]') as string[]));
  try {
    const check = textsOf(image, 'HEALTHCHECK')[0]?.replace(/^.*CMD /, '') ?? '[]';
    const [, ...args] = JSON.parse(check) as string[];
    await until(async () => isWell(run(...args)));
    let ready: Response;
    // It listens before its collections are created.
    do ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    while (ready.status === 503);
    expect(await ready.json()).toMatchObject({ status: 'ready', rateLimits: 'shared' });
    const token = run('dist/src/cli/main.js', 'token', 'create', '--user', 'ada');
    expect(await isWell(token)).toBe(true);
    server.kill('SIGTERM');
    expect(await once(server, 'exit')).toEqual([0, null]);
  } finally {
    server.kill('SIGKILL');
    await mongodb.close();
    await redis.close();
  }
});
