import { mongo } from 'mongoose';
import { isRecord } from '../core/values';
import type { ServerKind } from './managed-server';

const SOCKET = 'mongodb.sock';
const REPLICA_SET = 'plantcare';
// Relative, so that a data directory that was moved or copied is a replica set of its own.
const MEMBERS = [{ _id: 0, host: `./${SOCKET}` }];
const NOT_INITIATED = 94;
const OTHER_VERSION =
  /UPGRADE PROBLEM|compatibility ?version|mongod version|unsupported WiredTiger/i;

/** The URI of a database in a managed MongoDB. */
export function managedMongodbUri(socket: string, database: string): string {
  return `mongodb://${encodeURIComponent(socket)}/${database}?directConnection=true`;
}

/** mongod as a replica set of one, because transactions need a replica set. */
export const mongod: ServerKind = {
  program: 'mongod',
  title: 'MongoDB',
  folder: 'mongodb',
  arguments: [
    ...['--dbpath', '.', '--bind_ip', `./${SOCKET}`, '--nounixsocket', '--filePermissions', '0600'],
    // The defaults, half of the memory and a part of the disk, are for a machine of its own.
    ...['--replSet', REPLICA_SET, '--wiredTigerCacheSizeGB', '0.5', '--oplogSize', '256'],
    ...['--wiredTigerEngineConfigString', 'log=(file_max=32MB)'],
    // Slow operations are logged with the values in them, which only the Enterprise server redacts.
    ...['--quiet', '--slowms', String(2 ** 31 - 1)],
    ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
    // What a killed client left open would block others for a minute.
    ...['--setParameter', 'transactionLifetimeLimitSeconds=10'],
  ],
  // Conflicts, and clients that are gone, are logged with the commands, whatever the level; crashes not.
  unlogged: '"s":"[^F]", *"c":"(COMMAND|QUERY|WRITE|TXN)"',
  // While it starts, and on a slow disk, it may refuse or be silent.
  serves: async (socket) => asAdmin(socket, isPrimary).catch(() => false),
  explainEnd(log, home, writtenBy = 'another version') {
    if (log.includes('DBPathInUse')) {
      return `cannot open ${home}, because another MongoDB works there which this program did not start: stop that one first`;
    }
    // A line is JSON. What follows the first error is how and where it crashed.
    const errors = log.split('\n').filter((line) => /"s":"[EF]"/.test(line));
    if (errors.some((error) => OTHER_VERSION.test(error))) {
      return `refuses the data in ${home}, which ${writtenBy} wrote: use ${writtenBy} for it, or another data directory`;
    }
    const parts = /"msg":"(.*?)".*?(?:"(?:errmsg|error_str|message|error)":"((?:\\.|[^"])*)|$)/;
    const [, message, detail = 'see there'] = parts.exec(errors[0] ?? '') ?? [];
    return message && `could not start in ${home}: ${message}: ${detail.replace(/\\./g, ' ')}`;
  },
};

/** Shuts the MongoDB down that listens on a socket, whoever started it. */
export async function shutDownMongodb(socket: string): Promise<void> {
  await asAdmin(socket, (admin) => admin.command({ shutdown: 1, force: true, timeoutSecs: 0 }));
}

async function asAdmin<T>(socket: string, work: (admin: mongo.Db) => Promise<T>): Promise<T> {
  // The last holds a program that has ended otherwise, while MongoDB hangs.
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
  // A fresh node is in no set, nor is one whose set had it listen on a port.
  if (hello['setName'] === undefined) await configure(admin);
  return hello['isWritablePrimary'] === true;
}

/** Makes the node the one member of its set. */
async function configure(admin: mongo.Db): Promise<void> {
  try {
    const config: unknown = (await admin.command({ replSetGetConfig: 1 }))['config'];
    if (!isRecord(config)) return;
    const changed = { ...config, version: Number(config['version']) + 1, members: MEMBERS };
    await admin.command({ replSetReconfig: changed, force: true });
  } catch (error) {
    if (!(error instanceof mongo.MongoServerError) || error.code !== NOT_INITIATED) throw error;
    await admin.command({ replSetInitiate: { _id: REPLICA_SET, members: MEMBERS } });
  }
}
