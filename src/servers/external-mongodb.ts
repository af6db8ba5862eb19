import { mongo } from 'mongoose';
import { setTimeout as sleep } from 'node:timers/promises';
import { redact } from '../core/text/redact';
import { withTimeout } from '../core/async/timeout';
import { codeOf, reasonOf } from '../core/values';
import { DATABASE, ServersError } from './index';

const LIMIT_MS = 4_000;
const RETRY_MS = 1_000;

const AUTHENTICATION_FAILED = 18;

/** How long to wait for a MongoDB that cannot be reached yet. */
export interface Waiting {
  waitMs?: number;
  /** Receives a sentence once it has to be waited for. */
  onWait?: (line: string) => void;
  /** Ends the wait. */
  stopping?: AbortSignal | undefined;
}

/** Says that a MongoDB does not answer, which may change. */
class UnreachableError extends ServersError {}

/**
 * Finds the MongoDB of a URI, and returns the URI with the name of a database.
 *
 * @throws ServersError where there is none that can serve, without the credentials
 */
export async function findMongodb(given: string, waiting: Waiting = {}): Promise<string> {
  const { waitMs = 0, onWait, stopping } = waiting;
  const deadline = performance.now() + waitMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await checkMongodb(given);
    } catch (error) {
      const isLate = performance.now() + RETRY_MS > deadline || stopping?.aborted === true;
      if (!(error instanceof UnreachableError) || isLate) throw error;
      if (attempt === 1) onWait?.(`${error.message} It is waited for up to ${waitMs / 1000} s.`);
      await sleep(RETRY_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
  }
}

async function checkMongodb(given: string): Promise<string> {
  const uri = withDatabase(given);
  let client: mongo.MongoClient | undefined;
  try {
    client = new mongo.MongoClient(uri, { serverSelectionTimeoutMS: LIMIT_MS });
  } catch (error) {
    throw new ServersError(`MONGODB_URI cannot be used: ${redact(reasonOf(error), given)}.`);
  }
  try {
    const answer = client.db('admin').command({ hello: 1 });
    // Looking up names may hang for longer than any limit of the driver's.
    const hello = await withTimeout(LIMIT_MS + 500, answer);
    if (hello === undefined) throw new Error('timed out');
    if (hello['setName'] !== undefined || hello['msg'] === 'isdbgrid') {
      if (hello['isWritablePrimary'] === true) return uri;
      throw new Error('it is no primary now');
    }
    if (hello['isreplicaset'] === true) throw new Error('its replica set is not initiated yet');
  } catch (error) {
    throw whyNot(error, given);
  } finally {
    void client.close(true).catch(() => undefined);
  }
  throw new ServersError(
    'MONGODB_URI leads to a single MongoDB server, but transactions need a replica set (of one node at least) or a sharded cluster: start it with --replSet and run rs.initiate().',
  );
}

function whyNot(error: unknown, given: string): ServersError {
  if (codeOf(error) === AUTHENTICATION_FAILED) {
    return new ServersError(
      'The MongoDB of MONGODB_URI refuses the login: check the user, the password and, where users are kept in another database than admin, authSource.',
    );
  }
  // The driver's words for a host that is silent are about its own inner workings.
  const isSilent = /<monitor>|timed out/.test(reasonOf(error));
  const why = isSilent ? `there was no answer within ${LIMIT_MS / 1000} s` : reasonOf(error);
  return new UnreachableError(
    `The MongoDB of MONGODB_URI cannot be reached: ${redact(why, given)}.`,
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
