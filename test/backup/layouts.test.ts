import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { mongo } from 'mongoose';

import { CommandLine, resultOf, run, start } from '../cli/run';
import { Client, record } from '../support/client';
import { freshDatabase } from '../support/databases';
import { until } from '../support/processes';
import {
  dataDirectory,
  RealServer,
  removeDataDirectory,
  runningServers,
  tokensOf,
} from '../support/real-server';

const HALF =
  /^The database \S+ holds a backup that is being restored, or was restored half way: [^\n]+\.\n$/;

let dataDir: string;
let folder: string;

beforeEach(async () => {
  dataDir = await dataDirectory();
  folder = await mkdtemp(path.join(tmpdir(), 'backup-test-'));
});
afterEach(async () => {
  await removeDataDirectory(dataDir);
  await rm(folder, { recursive: true });
});

/** Makes a database large enough for a backup and a restore to be met under way. */
async function fill(uri: string): Promise<void> {
  await new CommandLine(uri).json('user', 'list');
  const client = await new mongo.MongoClient(uri).connect();
  const text = 'x'.repeat(250);
  for (let start = 0; start < 60_000; start += 5000) {
    const documents = Array.from({ length: 5000 }, (_, index) => ({ number: start + index, text }));
    await client.db().collection('fillers').insertMany(documents);
  }
  await client.close();
}

async function fillersIn(uri: string): Promise<number> {
  const client = await new mongo.MongoClient(uri).connect();
  try {
    return await client.db().collection('fillers').countDocuments();
  } finally {
    await client.close();
  }
}

async function dropDatabase(uri: string): Promise<void> {
  const client = await new mongo.MongoClient(uri).connect();
  await client.db().dropDatabase();
  await client.close();
}

test('what an own MongoDB had is served by another one, and by an own one elsewhere', async () => {
  const env = { DATA_DIR: dataDir };
  const server = await RealServer.start(dataDir);
  const [token = ''] = await tokensOf(dataDir, ['ada']);
  await new Client(server.url, token).send('POST', '/api/plants', { body: { name: 'Fern' } });
  const running = resultOf(await start(['backup', 'create', '--json'], env).ended);
  const { file } = record(running);
  expect(path.dirname(String(file))).toBe(path.join(dataDir, 'backups'));
  expect(path.basename(String(file))).toMatch(/^plant-care-\d{4}-\d\d-\d\dT[\d-]+Z\.tar\.gz$/);
  expect((await stat(path.dirname(String(file)))).mode & 0o777).toBe(0o700);
  await server.stop();

  const stopped = path.join(folder, 'stopped.tar.gz');
  resultOf(await start(['backup', 'create', stopped, '--json'], env).ended);
  expect(await runningServers(dataDir)).toEqual([]);

  const external = freshDatabase();
  await new CommandLine(external).json('backup', 'restore', String(file));
  const again = path.join(folder, 'again.tar.gz');
  await new CommandLine(external).json('backup', 'create', again);
  const served = await RealServer.start(path.join(folder, 'unused'), { MONGODB_URI: external });
  const plants = await new Client(served.url, token).send('GET', '/api/plants');
  expect(plants).toMatchObject({ status: 200, body: [{ name: 'Fern' }] });
  await served.stop();
  await dropDatabase(external);

  const elsewhere = path.join(folder, 'elsewhere');
  for (const archive of [stopped, again]) {
    const restore = start(['backup', 'restore', archive, '--json'], { DATA_DIR: elsewhere });
    resultOf(await restore.ended);
    const own = await RealServer.start(elsewhere);
    const served = await new Client(own.url, token).send('GET', '/api/plants');
    expect(served).toMatchObject({ status: 200, body: [{ name: 'Fern' }] });
    await own.stop();
    await rm(elsewhere, { recursive: true });
  }
});

test('a restore that was killed is recognized and refused until it is done again', async () => {
  const from = freshDatabase();
  const to = freshDatabase();
  const cli = new CommandLine(from);
  await cli.json('token', 'create', '--user', 'ada');
  await fill(from);
  const file = path.join(folder, 'large.tar.gz');
  await cli.json('backup', 'create', file);
  const env = { MONGODB_URI: to, REDIS_URL: process.env['TEST_REDIS_URL'] };
  const restore = start(['backup', 'restore', file], env);
  const isHalfWay = async (): Promise<boolean> => (await fillersIn(to)) > 10_000;
  expect(await until(isHalfWay, { within: 60_000 })).toBe(true);
  restore.process.kill('SIGKILL');
  expect(await restore.ended).toMatchObject({ code: null });

  const refused = new CommandLine(to);
  for (const args of [
    ['user', 'list'],
    ['reconcile', '--check'],
    ['backup', 'create'],
  ]) {
    const { code, stdout, stderr } = await refused.run(...args);
    expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
    expect(stderr).toMatch(HALF);
  }
  const server = RealServer.spawn(dataDir, env);
  expect(await server.ended).toMatchObject({ code: 1 });
  expect(server.stderr).toMatch(HALF);

  await refused.json('backup', 'restore', file);
  expect(await refused.json('reconcile', '--check')).toMatchObject({ checked: 1, differences: [] });
  expect(await fillersIn(to)).toBe(60_000);
  await dropDatabase(from);
  await dropDatabase(to);
});

test('a backup that is interrupted leaves no file', async () => {
  const uri = freshDatabase();
  await fill(uri);
  const backup = start(['backup', 'create', path.join(folder, 'a.tar.gz')], {
    MONGODB_URI: uri,
    REDIS_URL: process.env['TEST_REDIS_URL'],
  });
  const isUnderWay = async (): Promise<boolean> => (await readdir(folder)).length > 0;
  expect(await until(isUnderWay, { within: 30_000, every: 2 })).toBe(true);
  backup.process.kill('SIGINT');
  expect(await backup.ended).toMatchObject({ code: 1, stderr: 'Interrupted.\n' });
  expect(await readdir(folder)).toEqual([]);
  await dropDatabase(uri);
});

test('the server backs up by itself, keeps the newest, and leaves other files alone', async () => {
  const env = { BACKUP_EVERY_HOURS: '0.0005', BACKUP_KEEP: '2', BACKUP_DIR: folder };
  const others = ['plant-care-2020-01-01T00-00-00Z.tar.gz', 'plant-care-scheduled-old.tar.gz'];
  for (const name of others) await writeFile(path.join(folder, name), '');
  const oldest = 'plant-care-scheduled-2020-01-01T00-00-00Z.tar.gz';
  // The clock was wrong when they were made.
  const ahead = 'plant-care-scheduled-9020-01-01T00-00-00Z.tar.gz';
  const partial = path.join(folder, 'plant-care-scheduled.partial');
  for (const name of [oldest, ahead]) await writeFile(path.join(folder, name), '');
  await writeFile(partial, '');
  await utimes(partial, new Date('9020-01-01'), new Date('9020-01-01'));
  const server = await RealServer.start(dataDir, env);
  const seen = new Set<string>();
  const made = async (): Promise<string[]> => {
    const names = await readdir(folder);
    const own = names.filter((name) => /^plant-care-scheduled-\d{4}.*gz$/.test(name));
    for (const name of own) seen.add(name);
    return own;
  };
  expect(
    await until(async () => (await made()).length > 0 && seen.size > 4, { within: 60_000 }),
  ).toBe(true);
  const metrics = await fetch(`${server.url}/metrics`);
  const gauge = /backup_last_success_timestamp_seconds ([\d.e+]+)$/m;
  const [, moment = ''] = gauge.exec(await metrics.text()) ?? [];
  expect(Math.abs(Number(moment) - Date.now() / 1000)).toBeLessThan(60);
  await server.stop();
  const kept = await made();
  expect(kept).toHaveLength(2);
  expect(kept).not.toContain(oldest);
  expect(kept).not.toContain(ahead);
  expect(await readdir(folder)).toEqual(expect.arrayContaining(others));
  expect((await readdir(folder)).filter((name) => name.endsWith('.partial'))).toEqual([]);
  for (const name of kept) {
    const verified = await run(['backup', 'verify', path.join(folder, name)], {});
    expect(verified).toMatchObject({ code: 0 });
  }
});

test('servers that share a folder make each backup once', async () => {
  const uri = freshDatabase();
  const env = { MONGODB_URI: uri, BACKUP_EVERY_HOURS: '1', BACKUP_DIR: folder };
  const servers = await Promise.all(
    [1, 2, 3].map(() =>
      RealServer.start(path.join(dataDir, 'unused'), {
        ...env,
        REDIS_URL: process.env['TEST_REDIS_URL'],
      }),
    ),
  );
  const isMade = async (): Promise<boolean> =>
    (await readdir(folder)).some((name) => name.endsWith('.tar.gz'));
  expect(await until(isMade, { within: 30_000 })).toBe(true);
  await Promise.all(servers.map((server) => server.stop()));
  expect(await readdir(folder)).toHaveLength(1);
  await dropDatabase(uri);
});

test('a backup that fails is a line of the log, and the server goes on', async () => {
  const backups = path.join(folder, 'backups');
  const env = { BACKUP_EVERY_HOURS: '0.0005', BACKUP_DIR: backups };
  const server = await RealServer.start(dataDir, env);
  // Until no backup is made in between.
  const occupy = async (): Promise<boolean> => {
    await rm(backups, { recursive: true, force: true });
    return writeFile(backups, '', { flag: 'wx' }).then(
      () => true,
      () => false,
    );
  };
  expect(await until(occupy, { within: 10_000 })).toBe(true);
  expect(await until(() => server.stderr.includes('"job":"backup"'), { within: 30_000 })).toBe(
    true,
  );
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect(await server.stop()).toBe(0);
});
