import { chown, cp, link, mkdir, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  acquire,
  aMongod,
  dataDirectory,
  isAllowed,
  plantsOf,
  program,
  temporaryFolder,
} from './support';

const OWNER = 65_432;
const AS_OWNER = ['setpriv', `--reuid=${OWNER}`, `--regid=${OWNER}`, '--clear-groups'];
const isRoot = process.getuid?.() === 0;
// Other users cannot have a data directory in a temporary folder that only root can enter.
const hasOwner = isRoot && isAllowed('setpriv', ...AS_OWNER.slice(1), 'test', '-x', tmpdir());
const itAsRoot = hasOwner ? test : test.skip;

/** A data directory of another user. */
async function ownedDirectory(): Promise<string> {
  const dataDir = await dataDirectory();
  await mkdir(dataDir);
  await chown(dataDir, OWNER, OWNER);
  return dataDir;
}

/** The files in a data directory that do not belong to its owner. */
async function foreignIn(dataDir: string): Promise<string[]> {
  const names = await readdir(dataDir, { recursive: true });
  const owners = await Promise.all(
    names.map(async (name) => (await stat(path.join(dataDir, name)).catch(() => undefined))?.uid),
  );
  return names.filter((_, index) => owners[index] !== undefined && owners[index] !== OWNER);
}

/** The environment of the owner, who has a cache of their own. */
async function environment(): Promise<NodeJS.ProcessEnv> {
  const home = await temporaryFolder();
  const { path: mongod } = await aMongod();
  const entry = path.join(home, 'plant-care-api', path.basename(path.dirname(mongod)));
  await mkdir(entry, { recursive: true });
  // Copied only if necessary, since it is large.
  const kept = path.join(entry, 'mongod');
  await link(mongod, kept).catch(() => cp(mongod, kept));
  return { HOME: home, XDG_CACHE_HOME: home };
}

itAsRoot('a user can continue with a data directory that root has used', async () => {
  const dataDir = await ownedDirectory();
  const command = await program(dataDir, { role: 'tool' });
  await plantsOf(command.servers.mongodbUri).insertOne({ _id: 'Basil' });
  expect(await foreignIn(dataDir)).toEqual([]);
  await command.leave();
  expect(await foreignIn(dataDir)).toEqual([]);

  const service = await program(dataDir, { through: AS_OWNER, env: await environment() });
  const plants = plantsOf(service.servers.mongodbUri);
  expect(await plants.countDocuments()).toBe(1);
  const beside = await acquire(dataDir, 'tool');
  expect(beside.notes[0]).toContain('was already running');
  await beside.release();
  await plants.insertOne({ _id: 'Mint' });
  await service.leave();
});

itAsRoot(
  'the owner of a data directory can continue after a program of root was killed',
  async () => {
    const dataDir = await ownedDirectory();
    const killed = await program(dataDir);
    await plantsOf(killed.servers.mongodbUri).insertOne({ _id: 'Basil' });
    await killed.crash();
    const service = await program(dataDir, { through: AS_OWNER, env: await environment() });
    expect(await plantsOf(service.servers.mongodbUri).countDocuments()).toBe(1);
    await service.leave();
  },
);

itAsRoot('files that earlier versions left to root are given to the owner', async () => {
  const dataDir = await dataDirectory();
  const before = await program(dataDir);
  await plantsOf(before.servers.mongodbUri).insertOne({ _id: 'Basil' });
  await before.leave();
  await chown(dataDir, OWNER, OWNER);
  expect(await foreignIn(dataDir)).not.toEqual([]);
  const command = await program(dataDir, { role: 'tool' });
  expect(await plantsOf(command.servers.mongodbUri).countDocuments()).toBe(1);
  await command.leave();
  expect(await foreignIn(dataDir)).toEqual([]);
});
