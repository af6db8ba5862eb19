import { redact } from '../../src/core/text/redact';
import { freePort } from '../support/processes';
import { connect, dataDirectory, startMongod } from './support';
import { acquireServers, ServersError } from '../../src/servers';
import { findMongodb, withDatabase } from '../../src/servers/external-mongodb';

async function refusal(mongodbUri: string): Promise<string> {
  const error: unknown = await findMongodb(mongodbUri).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServersError)) throw new Error('It was not refused as it should be.');
  return error.message;
}

test('a standalone MongoDB is refused in one sentence', async () => {
  const port = await freePort();
  await startMongod(port);
  await connect(`mongodb://127.0.0.1:${port}`).db().command({ ping: 1 });
  const message = await refusal(`mongodb://127.0.0.1:${port}/plants`);
  expect(message).toContain('a standalone MongoDB, but transactions need a replica set');
  expect(message).not.toContain('\n');
});

test('an unreachable MongoDB is refused, without its credentials', async () => {
  const message = await refusal('mongodb://gardener:s3cr%40t@127.0.0.1:1/plants');
  expect(message).toMatch(
    /^The MongoDB of MONGODB_URI cannot be reached: .*ECONNREFUSED 127\.0\.0\.1:1\.$/,
  );
  expect(message).not.toMatch(/gardener|s3cr/);
});

test('an invalid MongoDB connection string is refused, without its credentials', async () => {
  expect(await refusal('postgres://gardener:s3cret@db/plants')).toMatch(
    /^MONGODB_URI cannot be used: Invalid scheme/,
  );
  const message = await refusal('mongodb://gardener:s3cret@db/plants?nonsense=1');
  expect(message).toMatch(/^MONGODB_URI cannot be used: .*nonsense/);
  expect(message).not.toContain('s3cret');
});

test('a Redis that does not respond is used anyway, with a note', async () => {
  const mongodb = await acquireServers({ dataDir: await dataDirectory() }, { role: 'tool' });
  const given = { mongodbUri: mongodb.mongodbUri, redisUrl: 'redis://127.0.0.1:1' };
  const servers = await acquireServers({ dataDir: '/nowhere', ...given }, { role: 'server' });
  expect(servers).toMatchObject(given);
  expect(servers.notes).toEqual([
    'Using the MongoDB of MONGODB_URI.',
    'Using the Redis of REDIS_URL, which does not respond now.',
  ]);
  await servers.release();
  await mongodb.release();
});

test.each([
  ['mongodb://db', 'mongodb://db/plantcare'],
  ['mongodb://a:1,b:2/?replicaSet=rs', 'mongodb://a:1,b:2/plantcare?replicaSet=rs'],
  ['mongodb://db/own?w=1', 'mongodb://db/own?w=1'],
  ['mongodb+srv://u:p@db', 'mongodb+srv://u:p@db/plantcare?authSource=admin'],
  ['mongodb://u:p@db/?authSource=x', 'mongodb://u:p@db/plantcare?authSource=x'],
  [
    'mongodb://u@db/?authMechanism=MONGODB-X509',
    'mongodb://u@db/plantcare?authMechanism=MONGODB-X509',
  ],
])('the database of %s is named without moving its credentials', (given, expected) => {
  expect(withDatabase(given)).toBe(expected);
});

test('credentials are redacted, encoded or not', () => {
  const uri = 'mongodb://u:p%40ss@db/x';
  expect(redact('u:p%40ss and p@ss failed at db', uri)).toBe('*** and *** failed at db');
});
