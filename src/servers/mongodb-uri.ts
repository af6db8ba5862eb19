import { mongo } from 'mongoose';
import { setTimeout as sleep } from 'node:timers/promises';
import { redact } from '../core/redact';
import { reasonOf } from '../core/values';
import { ServersError } from './errors';

/** The name of the database where a URI names none. */
export const DATABASE = 'plantcare';

const LIMIT_MS = 4_000;

/**
 * Checks that a MongoDB is there that can serve, and returns its URI with the name of a database.
 *
 * @throws ServersError, without the credentials
 */
export async function checkMongodbUri(given: string): Promise<string> {
  const uri = withDatabase(given);
  let what = 'MONGODB_URI cannot be used';
  let client: mongo.MongoClient | undefined;
  try {
    client = new mongo.MongoClient(uri, { serverSelectionTimeoutMS: LIMIT_MS });
    what = 'The MongoDB of MONGODB_URI cannot be reached';
    const answer = client.db('admin').command({ hello: 1 });
    // Looking up names may hang for longer than any limit of the driver's.
    const late = sleep(LIMIT_MS + 500, undefined, { ref: false });
    const hello = await Promise.race([answer, late]);
    if (hello === undefined) throw new Error('timed out');
    if (hello['setName'] !== undefined || hello['msg'] === 'isdbgrid') return uri;
  } catch (error) {
    // The driver's words for a host that is silent are about its own inner workings.
    const isSilent = /<monitor>|timed out/.test(reasonOf(error));
    const why = isSilent ? `there was no answer within ${LIMIT_MS / 1000} s` : reasonOf(error);
    throw new ServersError(`${what}: ${redact(why, given)}.`);
  } finally {
    void client?.close(true).catch(() => undefined);
  }
  throw new ServersError(
    'MONGODB_URI leads to a single MongoDB server, but transactions need a replica set (of one node at least) or a sharded cluster: start it with --replSet and run rs.initiate().',
  );
}

/** Adds the default database to a URI that names none. */
export function withDatabase(uri: string): string {
  const named = uri.replace(/^(mongodb[^/]*:\/\/[^/?]+)\/?(?=\?|$)/, `$1/${DATABASE}`);
  // Credentials are looked up in the database that a URI names, unless it says where they are.
  const saysWhere = /[?&](authSource=|authMechanism=(?!SCRAM))/.test(uri);
  if (named === uri || !uri.includes('@') || saysWhere) return named;
  return `${named}${named.includes('?') ? '&' : '?'}authSource=admin`;
}
