import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { mongo } from 'mongoose';

import { freshDatabase, startProgram, startService } from '../support/program';
import type { TestService } from '../support/service';
import { NOBODYS_ID } from '../support/shapes';
import { CommandLine, run } from './run';

/** What commands and servers say of data that 1.2.0 did not write. */
const TOO_OLD =
  'The data is of a release before 1.2.0: open it with 1.2.0, which migrates it, before this release.';
/** Commands that need no data. */
const OFFLINE = ['audit routes', 'backup verify', 'config check', 'config show', 'openapi'];
/** Commands that may be the first to create data. */
const CREATING = ['token create', 'user invite', 'client create', 'seed', 'demo', 'backup restore'];

let service: TestService;
let folder: string;
let user: string;

/** The commands that only read, and those that change data, with their arguments. */
function reading(): string[][] {
  return [
    ['audit', 'log'],
    ['audit', 'export'],
    ['audit', 'verify'],
    ['client', 'list'],
    ['doctor'],
    ['import', path.join(folder, 'garden.json'), '--user', user, '--dry-run'],
    ['migrate', 'status'],
    ['migrate', 'up', '--dry-run'],
    ['reconcile', '--check'],
    ['session', 'list'],
    ['token', 'list'],
    ['user', 'delete', user, '--dry-run'],
    ['user', 'list'],
    ['user', 'show', user],
  ];
}
const changing = (): string[][] => [
  ['client', 'delete', 'operator.none'],
  ['import', path.join(folder, 'garden.json'), '--user', user],
  ['migrate', 'up'],
  ['reconcile', '--repair'],
  ['session', 'end', '--user', user],
  ['token', 'prune'],
  ['token', 'revoke', NOBODYS_ID],
  ['token', 'rotate', NOBODYS_ID],
  ['user', 'delete', user, '--confirm', user],
  ['user', 'set', user, '--tier', 'pro'],
];
const creating = (): string[][] => [
  ['token', 'create', '--user', 'bo'],
  ['user', 'invite', 'bo'],
  ['client', 'create', '--name', 'App', '--redirect-uri', 'https://app.example.com/'],
  ['seed'],
  ['demo', '--user', 'bo', '--plants', '1', '--events', '1'],
];
/** Those that read, and log that they did. */
const logged = (): string[][] => [backup(), ['user', 'export', user]];
const backup = (): string[] => ['backup', 'create', path.join(folder, `${Math.random()}.tar.gz`)];

beforeAll(async () => {
  service = await startService({ jobs: false });
  ({ id: user } = await service.user());
  folder = await mkdtemp(path.join(tmpdir(), 'reading-test-'));
  await writeFile(path.join(folder, 'garden.json'), '{"plants":[{"name":"Fern"}]}');
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

async function withDatabase(uri: string, work: (db: mongo.Db) => Promise<void>): Promise<void> {
  const client = await new mongo.MongoClient(uri).connect();
  try {
    await work(client.db());
  } finally {
    await client.close();
  }
}

/** The names of all commands, from the help of each. */
async function commandNames(parent: string[] = []): Promise<string[]> {
  const { stdout } = await run([...parent, '--help'], {});
  const [, listed] = stdout.split(/^Commands:\n/m);
  if (listed === undefined) return [parent.join(' ')];
  const [section = ''] = listed.split('\n\n');
  const names = [...section.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name = '']) => name);
  const all: string[] = [];
  for (const name of names.filter((each) => each !== 'help')) {
    all.push(...(await commandNames([...parent, name])));
  }
  return all;
}

test('each command is known here', async () => {
  const tried = [...reading(), ...changing(), ...logged()].map((args) =>
    ['doctor', 'import', 'reconcile'].includes(args[0] ?? '')
      ? args[0]
      : args.slice(0, 2).join(' '),
  );
  const known = [...OFFLINE, ...CREATING, ...tried];
  expect([...new Set(known)].sort()).toEqual((await commandNames()).sort());
});

test.each([
  ['does not exist', false],
  ['is empty', true],
])(
  'in a data directory that %s, commands for existing data say so and leave nothing',
  async (_what, isMade) => {
    const dataDir = path.join(folder, isMade ? 'empty' : 'missing');
    if (isMade) await mkdir(dataDir);
    for (const args of [...reading(), ...changing(), ...logged()]) {
      const { code, stdout, stderr } = await run(args, { DATA_DIR: dataDir });
      const said = args[0] === 'doctor' ? stdout : stderr;
      expect([args, code]).toEqual([args, 1]);
      expect(said).toMatch(/There is no data in \S+: set DATA_DIR to the folder that has it\.\n/);
      if (args[0] !== 'doctor') expect(said.trim().split('\n')).toHaveLength(1);
      expect(existsSync(dataDir)).toBe(isMade);
      if (isMade) expect(await readdir(dataDir)).toEqual([]);
    }
  },
);

test('a command that only reads writes nothing', async () => {
  await withDatabase(service.mongodbUri, async (db) => {
    const state = async () => {
      const { collections } = await db.command({ dbHash: 1 });
      return collections as Record<string, string>;
    };
    const cli = new CommandLine(service.mongodbUri, { DATA_DIR: path.join(folder, 'missing') });
    await db.collection('logKeys').deleteMany({});
    const before = await state();
    for (const args of reading()) {
      const { code } = await cli.run(...args);
      expect([args, code]).toEqual([args, 0]);
      expect([args, await state()]).toEqual([args, before]);
    }
    for (const args of logged()) {
      expect(await cli.run(...args)).toMatchObject({ code: 0 });
      const { auditEntries, auditHeads } = await state();
      expect([args, await state()]).toEqual([args, { ...before, auditEntries, auditHeads }]);
    }
    expect(existsSync(path.join(folder, 'missing'))).toBe(false);
    // Data of another release has other collections.
    await db.dropCollection('logKeys');
    const incomplete = await state();
    for (const args of [
      ['doctor'],
      ['migrate', 'status'],
      ['migrate', 'up', '--dry-run'],
      backup(),
    ]) {
      await cli.run(...args);
      expect([args, await state()]).toEqual([args, incomplete]);
    }
  });
});

test('an empty database stays empty, and is not archived', async () => {
  const uri = freshDatabase();
  const cli = new CommandLine(uri, { DATA_DIR: path.join(folder, 'missing') });
  for (const args of reading()) await cli.run(...args);
  expect(await cli.run(...backup())).toMatchObject({
    code: 1,
    stderr: 'The database is empty: there is nothing to archive.\n',
  });
  await withDatabase(uri, async (db) => {
    expect(await db.listCollections().toArray()).toEqual([]);
  });
});

test.each([
  ['fewer migrations', { _id: /days$/ }],
  ['no migrations', {}],
])('data with %s than that of 1.2.0 is refused, and stays as it is', async (_what, missing) => {
  const uri = freshDatabase();
  const env = { DATA_DIR: path.join(folder, 'missing') };
  const cli = new CommandLine(uri, env);
  await cli.json('token', 'create', '--user', 'ada');
  await withDatabase(uri, async (db) => {
    await db.collection<{ _id: string }>('migrations').deleteMany(missing);
    await db.collection('events').dropIndex('userId_1');
    await db.dropCollection('careMonths');
    const state = async () => [
      (await db.command({ dbHash: 1 }))['collections'] as unknown,
      await Promise.all((await db.collections()).map((each) => each.indexes())),
    ];
    const before = await state();
    const all = [...reading(), ...changing(), ...logged(), ...creating()];
    for (const args of all) {
      const { code, stdout, stderr } = await cli.run(...args);
      expect([args, code]).toEqual([args, 1]);
      expect(args[0] === 'doctor' ? stdout : stderr).toContain(TOO_OLD);
      if (args[0] !== 'doctor') expect(stderr).toBe(`${TOO_OLD}\n`);
    }
    const server = startProgram({
      role: 'server',
      env: { ...env, MONGODB_URI: uri, REDIS_URL: process.env['TEST_REDIS_URL'] },
    });
    await expect(server).rejects.toThrow(TOO_OLD);
    expect(await state()).toEqual(before);
  });
  expect(existsSync(env.DATA_DIR)).toBe(false);
});

test('a command waits for a server that prepares the data of its first start', async () => {
  const uri = freshDatabase();
  const cli = new CommandLine(uri);
  await withDatabase(uri, async (db) => {
    const leases = db.collection<{ _id: string; holder: string; until: Date }>('leases');
    const until = new Date(Date.now() + 60_000);
    await leases.insertOne({ _id: 'migrations', holder: 'a server', until });
    await db.createCollection('plants');
    const slow = await cli.run('user', 'list');
    expect(slow).toMatchObject({ code: 1, stdout: '' });
    expect(slow.stderr).toMatch(/^A server is starting and prepares the data: [^\n]+\n$/);
    const listed = cli.run('token', 'create', '--user', 'ada');
    // The lease last: without it, what is left would be data of another release.
    await db.dropCollection('plants');
    await db.dropCollection('leases');
    expect(await listed).toMatchObject({ code: 0, stderr: '' });
  });
});
