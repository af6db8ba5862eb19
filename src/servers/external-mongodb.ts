import { setTimeout as sleep } from 'node:timers/promises';

import { mongo } from 'mongoose';

import { redact } from '../core/text/redact';
import { withTimeout } from '../core/async';
import { codeOf, reasonOf } from '../core/values';
import { DATABASE, ServersError } from './index';

const LIMIT_MS = 4_000;
const RETRY_MS = 1_000;

const AUTHENTICATION_FAILED = 18;

/** How to wait for a MongoDB that is not reachable yet. */
export interface Waiting {
  waitMs?: number;
  /** Called with a message when the wait begins. */
  onWait?: (line: string) => void;
  stopping?: AbortSignal | undefined;
}

/** MongoDB does not respond, which may be temporary. */
class UnreachableError extends ServersError {}

/**
 * Checks the MongoDB of a URI; returns the URI with the name of a database.
 *
 * @throws ServersError if it cannot be used; the message contains no credentials
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
      if (attempt === 1) onWait?.(`${error.message} Retrying for up to ${waitMs / 1000} s.`);
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
    const response = client.db('admin').command({ hello: 1 });
    // Name resolution may hang beyond the driver's timeouts.
    const hello = await withTimeout(LIMIT_MS + 500, response);
    if (hello === undefined) throw new Error('timed out');
    if (hello['setName'] !== undefined || hello['msg'] === 'isdbgrid') {
      if (hello['isWritablePrimary'] === true) return uri;
      throw new Error('it is not the primary');
    }
    if (hello['isreplicaset'] === true) throw new Error('its replica set is not initiated yet');
  } catch (error) {
    throw whyNot(error, given);
  } finally {
    void client.close(true).catch(() => undefined);
  }
  throw new ServersError(
    'MONGODB_URI points to a standalone MongoDB, but transactions need a replica set (of at least one node) or a sharded cluster: start it with --replSet and run rs.initiate().',
  );
}

function whyNot(error: unknown, given: string): ServersError {
  if (codeOf(error) === AUTHENTICATION_FAILED) {
    return new ServersError(
      'The MongoDB of MONGODB_URI rejects the credentials: check the user, the password and, if users are not stored in the database admin, authSource.',
    );
  }
  // The driver describes a host that does not respond in terms of its own internals.
  const isSilent = /<monitor>|timed out/.test(reasonOf(error));
  const why = isSilent ? `no response within ${LIMIT_MS / 1000} s` : reasonOf(error);
  return new UnreachableError(
    `The MongoDB of MONGODB_URI cannot be reached: ${redact(why, given)}.`,
  );
}

/** Adds the default database to a URI that names none. */
export function withDatabase(uri: string): string {
  const named = uri.replace(/^(mongodb[^/]*:\/\/[^/?]+)\/?(?=\?|$)/, `$1/${DATABASE}`);
  // MongoDB authenticates against the database in the URI, unless authSource is set.
  const hasAuthSource = /[?&](authSource=|authMechanism=(?!SCRAM))/.test(uri);
  if (named === uri || !uri.includes('@') || hasAuthSource) return named;
  return `${named}${named.includes('?') ? '&' : '?'}authSource=admin`;
}
