import { spawnSync } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { mongo } from 'mongoose';

import { CommandLine, type Ended } from '../cli/run';
import { record } from '../support/client';
import type { TestService } from '../support/service';
import { freshDatabase, startService } from '../support/program';

let service: TestService;
let cli: CommandLine;
let folder: string;
let archive: string;
let intact: Buffer;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'backup-test-'));
  service = await startService({});
  cli = new CommandLine(service.mongodbUri);
  const user = await service.user();
  const plant = await user.plant();
  for (let count = 0; count < 5; count += 1) await user.event(plant.id);
  archive = path.join(folder, 'archive.tar.gz');
  expect(await cli.json('backup', 'create', archive)).toMatchObject({ file: archive });
  intact = await readFile(archive);
});

afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

/** Writes another archive; returns its path. */
async function archiveOf(content: Buffer, name = 'other.tar.gz'): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, content);
  return file;
}

/** Repacks the archive with a standard tool after changing its contents. */
async function repacked(change: (contents: string) => Promise<void>): Promise<string> {
  const contents = await mkdtemp(path.join(folder, 'contents-'));
  tar('-xzf', archive, '-C', contents);
  await change(contents);
  const file = path.join(folder, 'repacked.tar.gz');
  tar('-czf', file, '-C', contents, 'manifest.json', 'collections');
  return file;
}

function tar(...args: string[]): void {
  const { status, stderr } = spawnSync('tar', args, { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}

/** Edits the manifest. */
async function changeManifest(
  contents: string,
  change: (manifest: Record<string, unknown>) => object,
): Promise<void> {
  const file = path.join(contents, 'manifest.json');
  const manifest = record(JSON.parse(await readFile(file, 'utf8')));
  await writeFile(file, JSON.stringify({ ...manifest, ...change(manifest) }));
}

/** Expects that an archive is neither verified nor restored, with one sentence each. */
async function expectRefused(file: string, reason: RegExp): Promise<void> {
  const empty = freshDatabase();
  const ends: Ended[] = [
    await cli.run('backup', 'verify', file),
    await new CommandLine(empty).run('backup', 'restore', file),
  ];
  for (const { code, stdout, stderr } of ends) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(reason);
    expect(stderr).toMatch(/^[A-Z][^\n]*\.\n$/);
  }
  const client = await new mongo.MongoClient(empty).connect();
  expect(await client.db().listCollections().toArray()).toEqual([]);
  await client.close();
}

test('an archive is a tar of BSON and a manifest with counts and SHA-256, readable only by its owner', async () => {
  const contents = await mkdtemp(path.join(folder, 'contents-'));
  tar('-xzf', archive, '-C', contents);
  const manifest = record(JSON.parse(await readFile(path.join(contents, 'manifest.json'), 'utf8')));
  expect(manifest).toMatchObject({ format: 1, program: { name: 'plant-care-api' } });
  const events = await readFile(path.join(contents, 'collections/events/000001.bson'));
  expect(mongo.BSON.deserialize(events, { allowObjectSmallerThanBufferSize: true })).toMatchObject({
    type: 'watered',
  });
  const collections = manifest['collections'] as { name: string; documents: number }[];
  expect(collections).toContainEqual(expect.objectContaining({ name: 'events', documents: 5 }));
  expect((await stat(archive)).mode & 0o777).toBe(0o600);
  expect(await cli.json('backup', 'verify', archive)).toMatchObject({
    collections: { events: 5, plants: 1 },
  });
  expect(await cli.text('backup', 'verify', archive)).toContain('archive.tar.gz is intact: ');
});

test('an archive has every collection', async () => {
  const there = await service.app.database.connection.listCollections();
  const { collections } = record(await cli.json('backup', 'verify', archive));
  expect(Object.keys(record(collections)).sort()).toEqual(there.map(({ name }) => name).sort());
});

test('an archive that was repacked unchanged is valid', async () => {
  const file = await repacked(async () => undefined);
  expect(await cli.json('backup', 'verify', file)).toMatchObject({ collections: { events: 5 } });
});

test('a truncated archive is refused before anything is written, wherever it was cut', async () => {
  for (const share of [0, 0.01, 0.3, 0.9, 0.999]) {
    const length = Math.min(Math.floor(intact.length * share), intact.length - 1);
    await expectRefused(await archiveOf(intact.subarray(0, length)), /damaged/);
  }
});

test('an archive with an altered byte is refused before anything is written', async () => {
  // Earlier bytes are the time and operating system in the gzip header.
  const header = 10;
  for (let at = header; at < intact.length; at += Math.ceil(intact.length / 20)) {
    const altered = Buffer.from(intact);
    altered.writeUInt8(altered.readUInt8(at) ^ 0x10, at);
    await expectRefused(await archiveOf(altered), /damaged/);
  }
});

test('an archive with extra data is refused', async () => {
  for (const added of ['more', Buffer.alloc(512)]) {
    const file = await archiveOf(intact);
    await appendFile(file, added);
    await expectRefused(file, /damaged/);
  }
});

test.each([
  [
    'a document is another',
    async (contents: string) => {
      const file = path.join(contents, 'collections/events/000001.bson');
      const content = await readFile(file);
      content.writeUInt8(content.readUInt8(40) ^ 1, 40);
      await writeFile(file, content);
    },
    /the content of events differs from the manifest/,
  ],
  [
    'a collection is missing',
    (contents: string) => rm(path.join(contents, 'collections/plants'), { recursive: true }),
    /the size of plants differs from the manifest/,
  ],
  [
    'there is a collection more',
    async (contents: string) => {
      await mkdir(path.join(contents, 'collections/others'));
      const file = path.join(contents, 'collections/others/000001.bson');
      await writeFile(file, mongo.BSON.serialize({ _id: 1 }));
    },
    /does not list others/,
  ],
  [
    'a part is missing',
    async (contents: string) => {
      const events = path.join(contents, 'collections/events');
      await writeFile(path.join(events, '000003.bson'), mongo.BSON.serialize({ _id: 1 }));
    },
    /a part of events is missing/,
  ],
  [
    'the manifest is none',
    (contents: string) => writeFile(path.join(contents, 'manifest.json'), '{}'),
    /its manifest is not valid/,
  ],
])('an archive in which %s is refused', async (_, change, reason) => {
  await expectRefused(await repacked(change), reason);
});

test('a file that is not an archive, or is missing, is refused', async () => {
  await expectRefused(await archiveOf(Buffer.from('Boston fern')), /damaged/);
  await expectRefused(path.join(folder, 'missing.tar.gz'), /cannot be read/);
  await expectRefused(folder, /it is not a file/);
});

test('an archive of a later release, or in a later format, is refused', async () => {
  const later = await repacked((contents) =>
    changeManifest(contents, () => ({ program: { name: 'plant-care-api', version: '99.0.0' } })),
  );
  const empty = new CommandLine(freshDatabase());
  const { code, stderr } = await empty.run('backup', 'restore', later);
  expect({ code, stderr }).toMatchObject({ code: 1 });
  expect(stderr).toMatch(/^The archive is of release 99\.0\.0, and this is \S+: [^\n]+\.\n$/);
  const format = await repacked((contents) => changeManifest(contents, () => ({ format: 2 })));
  await expectRefused(format, /newer release wrote this archive/);
});

test('an archive is restored only into an empty database, and no file is ever replaced', async () => {
  const { code, stderr } = await cli.run('backup', 'restore', archive);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^The database \S+ is not empty \(it has \w+\): [^\n]+\.\n$/);
  const again = await cli.run('backup', 'create', archive);
  expect({ code: again.code, stderr: again.stderr }).toEqual({
    code: 1,
    stderr: `${archive} already exists: choose another name, or move it away.\n`,
  });
  expect(await readFile(archive)).toEqual(intact);
  const nowhere = await cli.run('backup', 'create', path.join(folder, 'missing/archive.tar.gz'));
  expect(nowhere.code).toBe(1);
  expect(nowhere.stderr).toMatch(/^The backup cannot be written: ENOENT[^\n]+\.\n$/);
});

test('a restore that finds documents of another restore is refused in one sentence', async () => {
  const uri = freshDatabase();
  const client = await new mongo.MongoClient(uri).connect();
  // As if another restore wrote the same documents.
  await client.db().collection('events').createIndex({ userId: 1 }, { unique: true }, {});
  await client.close();
  const { code, stderr } = await new CommandLine(uri).run('backup', 'restore', archive);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      'Another process has written to events meanwhile: run `backup restore FILE` again, which starts over.\n',
  });
});

test('every value keeps its type', async () => {
  const [from, to] = [freshDatabase(), freshDatabase()];
  await new CommandLine(from).json('migrate', 'up');
  const client = await new mongo.MongoClient(from).connect();
  const values = {
    _id: new mongo.ObjectId(),
    int: new mongo.Int32(7),
    double: new mongo.Double(7),
    long: mongo.Long.fromString('9007199254740993'),
    decimal: mongo.Decimal128.fromString('0.10'),
    date: new Date(0),
    uuid: new mongo.UUID(),
    binary: new mongo.Binary(Buffer.from([1, 2, 3])),
    timestamp: new mongo.Timestamp({ t: 1, i: 2 }),
    expression: new mongo.BSONRegExp('a', 'i'),
    nothing: null,
    nested: { list: [new mongo.Double(1), 'a'], empty: {} },
  };
  await client.db().collection('odd/name').insertOne(values);
  const file = path.join(folder, 'values.tar.gz');
  await new CommandLine(from).json('backup', 'create', file);
  await new CommandLine(to).json('backup', 'restore', file);
  const target = client.db(new URL(to).pathname.slice(1));
  const raw = { raw: true, sort: { _id: 1 } } as const;
  const bytes = (database: mongo.Db) => database.collection('odd/name').find({}, raw).toArray();
  expect(await bytes(target)).toEqual(await bytes(client.db()));
  await target.dropDatabase();
  await client.db().dropDatabase();
  await client.close();
});

test.each([
  [['backup'], /Usage/],
  [['backup', 'verify'], /missing required argument 'file'/],
  [['backup', 'restore'], /missing required argument 'file'/],
  [['backup', 'create', 'a', 'b'], /too many arguments/],
])('%j is a usage error', async (args, message) => {
  const { code, stderr } = await cli.run(...args);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});
