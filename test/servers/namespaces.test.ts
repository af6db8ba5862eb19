import {
  acquire,
  connect,
  dataDirectory,
  until,
  isAlive,
  isAllowed,
  killBoth,
  plantsOf,
  processOf,
  program,
} from './support';

/** Namespaces of processes, networks and users, as containers have them. */
const APART = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child'];
const CONTAINER = [...APART, '--mount-proc', '--net', '--ipc', '--uts'];
const itApart = isAllowed('unshare', ...CONTAINER.slice(1), 'true') ? test : test.skip;

itApart(
  'a second server in another namespace is refused, and the first keeps running',
  async () => {
    const dataDir = await dataDirectory();
    const reported: string[] = [];
    const first = await acquire(dataDir, 'server', reported);
    const all = [processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')];
    await expect(program(dataDir, { through: CONTAINER })).rejects.toThrow(
      'Another server is running on the data directory',
    );
    expect([processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')]).toEqual(all);
    await plantsOf(first.mongodbUri).insertOne({ _id: 'Basil' });

    await killBoth(dataDir, reported);
    expect(await plantsOf(first.mongodbUri).countDocuments()).toBe(1);
  },
);

itApart(
  'a server in a namespace of its own restarts its MongoDB after another server was refused',
  async () => {
    const dataDir = await dataDirectory();
    const first = await program(dataDir, { through: CONTAINER });
    await expect(acquire(dataDir)).rejects.toThrow(
      'Another server is running on the data directory',
    );
    const plants = plantsOf(first.servers.mongodbUri);
    await plants.insertOne({ _id: 'Basil' });
    await connect(first.servers.mongodbUri)
      .db('admin')
      .command({ shutdown: 1, force: true })
      .catch(() => undefined);
    await until(() => first.reported.join('').includes('MongoDB is running again.'));
    expect(await plants.countDocuments()).toBe(1);
    await first.leave();
  },
);

itApart('a command in another namespace attaches to the MongoDB of the server', async () => {
  const dataDir = await dataDirectory();
  const server = await acquire(dataDir);
  const all = [processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')];
  const command = await program(dataDir, { role: 'tool', through: CONTAINER });
  expect(command.servers.notes).toEqual(['MongoDB was already running.']);
  await plantsOf(command.servers.mongodbUri).insertOne({ _id: 'Basil' });
  await command.leave();
  expect(all.every(isAlive)).toBe(true);
  expect(await plantsOf(server.mongodbUri).countDocuments()).toBe(1);
});

itApart(
  'a program waits for a hung MongoDB that a killed program left in another namespace',
  async () => {
    const dataDir = await dataDirectory();
    const killed = await program(dataDir);
    const mongod = processOf(dataDir, 'mongod');
    process.kill(mongod, 'SIGSTOP');
    await killed.crash();
    const next = await program(dataDir, { through: CONTAINER });
    expect(isAlive(mongod)).toBe(false);
    await next.leave();
  },
);
