import { once } from 'node:events';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  acquire,
  aMongod,
  aProcess,
  connect,
  dataDirectory,
  until,
  isAlive,
  plantsOf,
} from './support';
import { freePort } from '../support/processes';

/** A data directory of earlier releases, whose servers listened on ports. */
async function oldDirectory(): Promise<{ dataDir: string; mongod: ReturnType<typeof aProcess> }> {
  const dataDir = await dataDirectory();
  for (const name of ['holders', 'locks', 'logs', 'mongodb', 'redis']) {
    await mkdir(path.join(dataDir, name), { recursive: true });
  }
  const home = path.join(dataDir, 'mongodb');
  const { path: binary, version } = await aMongod();
  const port = await freePort();
  const options = ['--dbpath', home, '--port', String(port), '--bind_ip', '127.0.0.1'];
  const mongod = aProcess(binary, [...options, '--nounixsocket', '--replSet', 'plantcare'], home);
  const client = connect(`mongodb://127.0.0.1:${port}/plantcare?directConnection=true`);
  const members = [{ _id: 0, host: `127.0.0.1:${port}` }];
  await client.db('admin').command({ replSetInitiate: { _id: 'plantcare', members } });
  await until(async () => (await client.db().command({ hello: 1 }))['isWritablePrimary'] === true);
  await client.db().collection<{ _id: string }>('plants').insertOne({ _id: 'Basil' });

  const record = { port, version, process: { pid: mongod.pid, started: 'boot/1' } };
  await writeFile(path.join(dataDir, 'mongod.json'), JSON.stringify(record));
  await writeFile(
    path.join(dataDir, 'redis.json'),
    JSON.stringify({ ...record, version: '6.2.14' }),
  );
  await writeFile(path.join(dataDir, 'holders', '1-x.json'), '{}');
  await symlink('free', path.join(dataDir, 'locks', '7'));
  await client.close();
  return { dataDir, mongod };
}

test('a data directory of an earlier release opens, and its obsolete files are removed', async () => {
  const { dataDir, mongod } = await oldDirectory();
  mongod.kill('SIGTERM');
  await once(mongod, 'exit');
  for (const role of ['tool', 'server'] as const) {
    const { mongodbUri, release } = await acquire(dataDir, role);
    expect(await plantsOf(mongodbUri).countDocuments()).toBe(1);
    const client = connect(mongodbUri);
    const { config } = (await client.db('admin').command({ replSetGetConfig: 1 })) as {
      config: object;
    };
    expect(config).toMatchObject({ _id: 'plantcare', members: [{ host: './mongodb.sock' }] });
    await client.withSession(async (session) =>
      session.withTransaction(async () => {
        await client
          .db()
          .collection('plants')
          .updateOne({}, { $inc: { n: 1 } }, { session });
      }),
    );
    await client.close();
    await release();
  }
  const names = await readdir(dataDir);
  expect(names.sort()).toEqual([
    'cache',
    'leases',
    'logs',
    'mongod.json',
    'mongodb',
    'redis',
    'redis-server.json',
  ]);
  expect(await readFile(path.join(dataDir, 'mongod.json'), 'utf8')).toMatch(
    /^\{"version":"[\d.]+"\}$/m,
  );
});

test('a MongoDB that an earlier release left running is reported, not stopped', async () => {
  const { dataDir, mongod } = await oldDirectory();
  await expect(acquire(dataDir)).rejects.toThrow(
    /^MongoDB [\d.]+ cannot open \S+mongodb: a MongoDB that this program did not start is using it\. Stop that one first\. Its log is \S+$/,
  );
  expect(isAlive(mongod.pid ?? 0)).toBe(true);
  mongod.kill('SIGTERM');
  await once(mongod, 'exit');
  const { mongodbUri } = await acquire(dataDir);
  expect(await plantsOf(mongodbUri).countDocuments()).toBe(1);
});
