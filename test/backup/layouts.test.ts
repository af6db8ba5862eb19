import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { mongo } from 'mongoose';

import { CommandLine, resultOf, run, start } from '../cli/run';
import { record } from '../support/client';
import { until } from '../support/processes';
import type { TestService } from '../support/service';
import {
  startProgram,
  exitOf,
  acquireServers,
  freshDatabase,
  giveBack,
  takeDatabase,
  dataDirectory,
  removeDataDirectory,
  runningServers,
  startService,
  userOf,
  TcpProxy,
} from '../support/program';

const HALF = /^A restore of the database \S+ is in progress, or was interrupted: [^\n]+\.\n$/;

/** As many documents as three parts of an archive, or three inserts of a restore. */
const FILLERS = 2500;
const FILLER = 'x'.repeat(4000);

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

/** Runs work on the filler documents of a database. */
async function withFillers<T>(
  uri: string,
  work: (fillers: mongo.Collection) => Promise<T>,
): Promise<T> {
  const client = new mongo.MongoClient(uri);
  try {
    return await work(client.db().collection('fillers'));
  } finally {
    await client.close();
  }
}

/** Creates a database whose archive has several parts. */
async function fill(uri: string): Promise<void> {
  const documents = Array.from({ length: FILLERS }, (_, number) => ({ number, text: FILLER }));
  await withFillers(uri, (fillers) => fillers.insertMany(documents));
}

function fillersIn(uri: string): Promise<number> {
  return withFillers(uri, (fillers) => fillers.countDocuments());
}

async function dropDatabase(uri: string): Promise<void> {
  const client = await new mongo.MongoClient(uri).connect();
  await client.db().dropDatabase();
  await client.close();
}

/** Runs a command until it has sent its first such MongoDB commands on the fillers, and ends it before the next one. */
async function endedAmidst(
  args: readonly string[],
  uri: string,
  { after, commands, by }: { after: string; commands: number; by: NodeJS.Signals },
): Promise<Awaited<ReturnType<typeof start>['ended']>> {
  const { proxy, uri: proxied } = await TcpProxy.before(uri);
  let count = 0;
  proxy.onCommand(({ name, collection }) => {
    if (collection !== 'fillers' || name !== after) return undefined;
    count += 1;
    return count > commands ? 'requests lost' : undefined;
  });
  try {
    const env = { MONGODB_URI: proxied, REDIS_URL: process.env['TEST_REDIS_URL'] };
    const command = start(args, env);
    await until(() => count > commands);
    command.process.kill(by);
    return await command.ended;
  } finally {
    await proxy.close();
  }
}

/** The program in this process, with servers of its own. */
async function startOwn(root: string): Promise<TestService> {
  const { mongodbUri, redisUrl, release } = await acquireServers(
    { dataDir: root },
    { role: 'server' },
  );
  const service = await startService({ mongodbUri, redisUrl: redisUrl ?? null });
  const close = async (): Promise<void> => {
    await service.close();
    await release();
  };
  return { ...service, close };
}

test('a backup of a managed MongoDB can be restored into an external one, and back', async () => {
  const env = { DATA_DIR: dataDir };
  const own = await startOwn(dataDir);
  const { id, token } = await own.user({ id: 'ada' });
  await userOf(own.url, id, token).plant({ name: 'Fern' });
  const running = resultOf(await run(['backup', 'create', '--json'], env));
  const { file } = record(running);
  expect(path.dirname(String(file))).toBe(path.join(dataDir, 'backups'));
  expect(path.basename(String(file))).toMatch(/^plant-care-\d{4}-\d\d-\d\dT[\d-]+Z\.tar\.gz$/);
  expect((await stat(path.dirname(String(file)))).mode & 0o777).toBe(0o700);
  await own.close();

  const expectServed = async ({ url }: TestService): Promise<void> => {
    const plants = await userOf(url, id, token).get('/api/plants');
    expect(plants).toMatchObject({ status: 200, body: [{ name: 'Fern' }] });
  };
  const stopped = path.join(folder, 'stopped.tar.gz');
  resultOf(await run(['backup', 'create', stopped, '--json'], env));
  expect(await runningServers(dataDir)).toEqual([]);

  const again = path.join(folder, 'again.tar.gz');
  for (const archive of [stopped, String(file)]) {
    const external = takeDatabase();
    await new CommandLine(external).json('backup', 'restore', archive);
    await rm(again, { force: true });
    await new CommandLine(external).json('backup', 'create', again);
    const served = await startService({ mongodbUri: external });
    await expectServed(served);
    await served.close();
    await giveBack(external);
  }

  const elsewhere = path.join(folder, 'elsewhere');
  resultOf(await run(['backup', 'restore', again, '--json'], { DATA_DIR: elsewhere }));
  const restored = await startOwn(elsewhere);
  await expectServed(restored);
  await restored.close();
});

test('a database with an interrupted restore is refused until the restore is repeated', async () => {
  const from = takeDatabase();
  const to = freshDatabase();
  const cli = new CommandLine(from);
  await cli.json('token', 'create', '--user', 'ada');
  await fill(from);
  const file = path.join(folder, 'large.tar.gz');
  await cli.json('backup', 'create', file);
  const ended = await endedAmidst(['backup', 'restore', file], to, {
    after: 'insert',
    commands: 1,
    by: 'SIGKILL',
  });
  expect(ended).toMatchObject({ code: null });
  expect(await fillersIn(to)).toBeGreaterThan(0);
  expect(await fillersIn(to)).toBeLessThan(FILLERS);

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
  const env = { MONGODB_URI: to, REDIS_URL: process.env['TEST_REDIS_URL'], DATA_DIR: dataDir };
  const server = startProgram({ role: 'server', env });
  const end = await server.then(() => undefined, exitOf);
  expect(end?.exitCode).toBe(1);
  expect(`${end?.message}\n`).toMatch(HALF);

  await refused.json('backup', 'restore', file);
  expect(await refused.json('reconcile', '--check')).toMatchObject({ checked: 1, differences: [] });
  expect(await fillersIn(to)).toBe(FILLERS);
  await dropDatabase(from);
  await dropDatabase(to);
});

test('a backup that is interrupted leaves no file', async () => {
  const uri = takeDatabase();
  await new CommandLine(uri).json('token', 'create', '--user', 'ada');
  await withFillers(uri, (fillers) => fillers.insertOne({}));
  const ended = await endedAmidst(['backup', 'create', path.join(folder, 'a.tar.gz')], uri, {
    after: 'find',
    commands: 0,
    by: 'SIGINT',
  });
  expect(ended).toMatchObject({ code: 1, stderr: 'Interrupted.\n' });
  expect(await readdir(folder)).toEqual([]);
  await withFillers(uri, (fillers) => fillers.drop());
  await giveBack(uri);
});

test('the server makes scheduled backups, keeps the newest, and leaves other files alone', async () => {
  const env = { BACKUP_EVERY_HOURS: '0.0005', BACKUP_KEEP: '2', BACKUP_DIR: folder };
  const others = ['plant-care-2020-01-01T00-00-00Z.tar.gz', 'plant-care-scheduled-old.tar.gz'];
  for (const name of others) await writeFile(path.join(folder, name), '');
  const oldest = 'plant-care-scheduled-2020-01-01T00-00-00Z.tar.gz';
  // The clock was wrong when they were made.
  const ahead = 'plant-care-scheduled-9020-01-01T00-00-00Z.tar.gz';
  const partial = path.join(folder, `${oldest}.0123abcd.partial`);
  for (const name of [oldest, ahead]) await writeFile(path.join(folder, name), '');
  await writeFile(partial, '');
  await utimes(partial, new Date('9020-01-01'), new Date('9020-01-01'));
  const service = await startService({ env });
  const seen = new Set<string>();
  const made = async (): Promise<string[]> => {
    const names = await readdir(folder);
    const own = names.filter((name) => /^plant-care-scheduled-\d{4}.*gz$/.test(name));
    for (const name of own) seen.add(name);
    return own;
  };
  const areMade = async (): Promise<boolean> => (await made()).length > 0 && seen.size > 4;
  await until(areMade, 100);
  const metrics = await service.anonymous.get('/metrics');
  const gauge = /backup_last_success_timestamp_seconds ([\d.e+]+)$/m;
  const [, moment = ''] = gauge.exec(metrics.text) ?? [];
  expect(Math.abs(Number(moment) - Date.now() / 1000)).toBeLessThan(60);
  await service.close();
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
  const uri = takeDatabase();
  const env = { BACKUP_EVERY_HOURS: '1', BACKUP_DIR: folder };
  const services: TestService[] = [];
  for (let count = 1; count <= 3; count += 1) {
    services.push(await startService({ mongodbUri: uri, env, jobs: false }));
  }
  // At the same moment, when none of them can see the others yet.
  for (const { app } of services) app.startJobs();
  const isMade = async (): Promise<boolean> =>
    (await readdir(folder)).some((name) => name.endsWith('.tar.gz'));
  await until(isMade);
  for (const service of services) await service.close();
  expect(await readdir(folder)).toHaveLength(1);
  await giveBack(uri);
});

test('a failed backup is logged, and the server keeps running', async () => {
  const backups = path.join(folder, 'backups');
  const env = { BACKUP_EVERY_HOURS: '0.0005', BACKUP_DIR: backups };
  const service = await startService({ env });
  // Until no backup is made meanwhile.
  const occupy = async (): Promise<boolean> => {
    await rm(backups, { recursive: true, force: true });
    return writeFile(backups, '', { flag: 'wx' }).then(
      () => true,
      () => false,
    );
  };
  await until(occupy);
  const isLogged = (): boolean =>
    service.logged.some((line) => /"level":"(warn|error)".*"job":"backup"/.test(line));
  await until(isLogged);
  await service.anonymous.get('/readyz').expect(200);
  await service.close();
});
