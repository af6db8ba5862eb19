import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { PROJECT } from '../../src/core/settings/project';
import { record } from '../support/client';
import { resultOf, run, runAlone, start } from './run';
import { readSettings, loadPlugins } from '../support/program';

const NAMES = readSettings(loadPlugins(), {})
  .shown()
  .map(({ name }) => name);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'config-test-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** A setting in the output of `config show --json`. */
async function shown(name: string, env: NodeJS.ProcessEnv): Promise<unknown> {
  const all = resultOf(await run(['config', 'show', '--json'], env)) as unknown[];
  return all.map(record).find((each) => each['name'] === name);
}

test('config check accepts valid settings, and starts nothing', async () => {
  const env = { DATA_DIR: folder, MONGODB_URI: 'mongodb://127.0.0.1:1' };
  const text = await run(['config', 'check'], env);
  expect(text).toEqual({ code: 0, stdout: 'All settings are valid.\n', stderr: '' });
  expect(resultOf(await run(['config', 'check', '--json'], env))).toEqual({ faults: [] });
});

test('config check reports all faults, including those of files and of names, and exits with 2', async () => {
  const env = {
    PORT: 'http',
    MONGODB_URL: 'mongodb://db',
    REDIS_URL_FILE: '/missing',
    DATA_DIR: '/dev/null',
    MONGOD_BINARY: '/bin/true',
    TLS_CERT_FILE: '/missing.pem',
    TLS_KEY_FILE: '/missing.pem',
    SHUTDOWN_TIMEOUT_SECONDS: '5',
  };
  const { code, stdout, stderr } = await run(['config', 'check'], env);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  const faults = stderr.trim().split('\n');
  expect(faults).toHaveLength(Object.keys(env).length);
  for (const name of Object.keys(env)) {
    expect(faults.filter((line) => line.startsWith(name))).toHaveLength(1);
  }
  const json = await run(['config', 'check', '--json'], env);
  expect({ ...json, stdout: JSON.parse(json.stdout) as unknown }).toEqual({
    code: 2,
    stdout: { faults },
    stderr,
  });
});

test('config show has a row for each setting, with its value and its source', async () => {
  const env = { PORT: '8080', CORS_ORIGINS: 'https://a.example,https://b.example' };
  const { code, stdout } = await run(['config', 'show'], env);
  expect(code).toBe(0);
  const [head, ...rows] = stdout.trim().split('\n');
  expect(head).toMatch(/^NAME +VALUE +SOURCE$/);
  expect(rows.map((row) => row.split(' ')[0])).toEqual(NAMES);
  expect(stdout).toMatch(/^PORT +8080 +environment$/m);
  expect(stdout).toMatch(/^CORS_ORIGINS +https:\/\/a.example,https:\/\/b.example +environment$/m);
  // The level of the server, not the one that commands use.
  expect(stdout).toMatch(/^LOG_LEVEL +info +default$/m);
  expect(stdout).toMatch(/^REDIS_URL +default$/m);
});

test('config show masks secrets, also those from files', async () => {
  const file = path.join(folder, 'uri');
  await writeFile(file, 'mongodb://ada:hunter2@db/plants\n');
  const env = { MONGODB_URI_FILE: file, REDIS_URL: 'redis://:hunter2@cache' };
  for (const form of [[], ['--json']]) {
    const { stdout, stderr } = await run(['config', 'show', ...form], env);
    expect(stdout + stderr).not.toContain('hunter2');
  }
  const uri = { name: 'MONGODB_URI', value: 'mongodb://ada:***@db/plants', source: 'file' };
  expect(await shown('MONGODB_URI', env)).toEqual(uri);
  const url = { name: 'REDIS_URL', value: 'redis://:***@cache', source: 'environment' };
  expect(await shown('REDIS_URL', env)).toEqual(url);
  expect(await shown('MONGODB_URI', {})).toEqual({ ...uri, value: null, source: 'default' });
});

test('config show fails with all faults if settings are invalid', async () => {
  const { code, stdout, stderr } = await run(['config', 'show'], { PORT: 'x', HOST: 'a b' });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr.trim().split('\n')).toHaveLength(2);
});

test('every command fails if the name of a setting is misspelled', async () => {
  expect(await run(['user', 'list'], { MONGODB_URL: 'mongodb://db/plants' })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'MONGODB_URL is not known; did you mean MONGODB_URI?\n',
  });
});

test('settings can be in a file that --env-file names', async () => {
  const file = path.join(folder, '.env');
  await writeFile(file, '# For the garden\nPORT=8081\nMONGODB_URI="mongodb://ada:hunter2@db/x"\n');
  const show = start(
    ['config', 'show', '--json'],
    { PORT: '8082' },
    { nodeOptions: [`--env-file=${file}`] },
  );
  const all = (resultOf(await show.ended) as unknown[]).map(record);
  expect(all).toContainEqual({
    name: 'MONGODB_URI',
    value: 'mongodb://ada:***@db/x',
    source: 'environment',
  });
  // The environment takes precedence.
  expect(all).toContainEqual({ name: 'PORT', value: 8082, source: 'environment' });
});

test('--version prints the version and starts nothing, even with wrong settings', async () => {
  expect(await runAlone('--version')).toEqual({
    code: 0,
    stdout: `${PROJECT.version}\n`,
    stderr: '',
  });
  const { stdout } = await runAlone('--version', '--json');
  expect(JSON.parse(stdout)).toEqual({ version: PROJECT.version });
  const wrong = await run(['--version'], { PORT: 'x' });
  expect(wrong.stdout).toBe(`${PROJECT.version}\n`);
});
