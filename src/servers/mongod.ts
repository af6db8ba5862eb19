import { mongo } from 'mongoose';
import type { ServerKind } from './managed-server';

const SOCKET = 'mongodb.sock';
const REPLICA_SET = 'plantcare';
// A relative path, so that a moved or copied data directory is its own replica set.
const MEMBERS = [{ _id: 0, host: `./${SOCKET}` }];
const NOT_INITIATED = 94;
const OTHER_VERSION =
  /UPGRADE PROBLEM|compatibility ?version|mongod version|unsupported WiredTiger/i;

export function managedMongodbUri(socket: string, database: string): string {
  return `mongodb://${encodeURIComponent(socket)}/${database}?directConnection=true`;
}

/** mongod as a replica set of one, because transactions need a replica set. */
export const mongod: ServerKind = {
  program: 'mongod',
  title: 'MongoDB',
  folder: 'mongodb',
  arguments: [
    '--dbpath',
    '.',
    '--bind_ip',
    `./${SOCKET}`,
    '--nounixsocket',
    '--filePermissions',
    '0600',
    // The defaults, half of the memory and 5 % of the disk, suit a dedicated machine.
    '--replSet',
    REPLICA_SET,
    '--wiredTigerCacheSizeGB',
    '0.5',
    '--oplogSize',
    '256',
    '--wiredTigerEngineConfigString',
    'log=(file_max=32MB)',
    // Logs of slow operations contain user data, which only the Enterprise server can redact.
    '--quiet',
    '--slowms',
    String(2 ** 31 - 1),
    '--setParameter',
    'diagnosticDataCollectionEnabled=false',
    // A transaction that a killed command left open would block others for a minute. The largest import
    // takes 2 s, and several times as long on a slow machine.
    '--setParameter',
    'transactionLifetimeLimitSeconds=30',
  ],
  // At any log level, conflicts and disconnects are logged with their commands, which contain user data.
  unlogged: '"s":"[^F]", *"c":"(COMMAND|QUERY|WRITE|TXN)"',
  // It may refuse or not respond while it starts, or on a slow disk.
  serves: async (socket) => asAdmin(socket, isPrimary).catch(() => false),
  explainEnd(log, home, writtenBy = 'another version') {
    if (log.includes('DBPathInUse')) {
      return `cannot open ${home}: a MongoDB that this program did not start is using it. Stop that one first`;
    }
    // Each line is JSON. The first error is the cause; the rest is the crash.
    const errors = log.split('\n').filter((line) => /"s":"[EF]"/.test(line));
    if (errors.some((error) => OTHER_VERSION.test(error))) {
      return `cannot read the data in ${home}, which ${writtenBy} wrote: use ${writtenBy}, or another data directory`;
    }
    const parts = /"msg":"(.*?)".*?(?:"(?:errmsg|error_str|message|error)":"((?:\\.|[^"])*)|$)/;
    const [, message, detail = 'see its log'] = parts.exec(errors[0] ?? '') ?? [];
    return message && `could not start in ${home}: ${message}: ${detail.replace(/\\./g, ' ')}`;
  },
};

async function asAdmin<T>(socket: string, work: (admin: mongo.Db) => Promise<T>): Promise<T> {
  // Without connectTimeoutMS, a hung MongoDB would delay the exit of the process.
  const limits = {
    serverSelectionTimeoutMS: 2_000,
    socketTimeoutMS: 2_000,
    connectTimeoutMS: 2_000,
  };
  const uri = managedMongodbUri(socket, 'admin');
  const client = new mongo.MongoClient(uri, { maxPoolSize: 1, ...limits });
  try {
    return await work(client.db());
  } finally {
    await client.close(true);
  }
}

async function isPrimary(admin: mongo.Db): Promise<boolean> {
  const hello: Record<string, unknown> = await admin.command({ hello: 1 });
  // True of a new node.
  if (hello['setName'] === undefined) await initiate(admin);
  return hello['isWritablePrimary'] === true;
}

/** Makes the node the only member of its replica set. */
async function initiate(admin: mongo.Db): Promise<void> {
  try {
    await admin.command({ replSetGetConfig: 1 });
  } catch (error) {
    if (!(error instanceof mongo.MongoServerError) || error.code !== NOT_INITIATED) throw error;
    await admin.command({ replSetInitiate: { _id: REPLICA_SET, members: MEMBERS } });
  }
}
