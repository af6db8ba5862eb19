import { mongo } from 'mongoose';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf, ServersError } from './errors';

/** The name of the database where a URI names none. */
export const DATABASE = 'plantcare';

const LIMIT_MS = 4_000;
const NO_ANSWER = `there was no answer within ${LIMIT_MS / 1000} s`;
const PARTS = /^(mongodb(?:\+srv)?:\/\/)([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/;

/** Checks that a MongoDB is there that can serve, and returns its URI with the name of a database. */
export async function checkMongodbUri(given: string): Promise<string> {
  const uri = withDatabase(given);
  const hello = await askHello(uri, given);
  if (typeof hello['setName'] === 'string' || hello['msg'] === 'isdbgrid') return uri;
  throw new ServersError(
    'MONGODB_URI leads to a single MongoDB server, but transactions need a replica set (of one node at least) or a sharded cluster: start it with --replSet and run rs.initiate().',
  );
}

/** Adds the default database to a URI that names none. */
export function withDatabase(uri: string): string {
  const [, scheme, authority, database, query] = PARTS.exec(uri) ?? [];
  if (scheme === undefined || authority === undefined) {
    throw new ServersError(
      'MONGODB_URI is not a MongoDB connection string (mongodb://host:port/name).',
    );
  }
  if (database !== undefined && database !== '') return uri;
  const options = new URLSearchParams(query);
  // Credentials are looked up in the database that a URI names, unless it says where they are.
  const mechanism = options.get('authMechanism') ?? 'SCRAM';
  if (authority.includes('@') && !options.has('authSource') && mechanism.startsWith('SCRAM')) {
    options.set('authSource', 'admin');
  }
  const rest = options.size === 0 ? '' : `?${options.toString()}`;
  return `${scheme}${authority}/${DATABASE}${rest}`;
}

async function askHello(uri: string, given: string): Promise<Record<string, unknown>> {
  const client = connector(uri, given);
  const limit = new AbortController();
  try {
    const answer = client.db('admin').command({ hello: 1 });
    // Looking up names may hang for longer than any limit of the driver's.
    const late = sleep(LIMIT_MS + 500, undefined, { signal: limit.signal }).then(() => {
      throw new Error(NO_ANSWER);
    });
    return await Promise.race([answer, late]);
  } catch (error) {
    const verb = error instanceof mongo.MongoServerError ? 'refuses' : 'cannot be reached';
    throw new ServersError(`The MongoDB of MONGODB_URI ${verb}: ${redact(whyNot(error), given)}.`);
  } finally {
    limit.abort();
    void client.close(true).catch(() => undefined);
  }
}

function connector(uri: string, given: string): mongo.MongoClient {
  try {
    return new mongo.MongoClient(uri, { serverSelectionTimeoutMS: LIMIT_MS });
  } catch (error) {
    throw new ServersError(`MONGODB_URI cannot be used: ${redact(reasonOf(error), given)}.`);
  }
}

function whyNot(error: unknown): string {
  const reason = reasonOf(error);
  // The driver's words for a host that is silent are about its own inner workings.
  return /<monitor>|timed out/.test(reason) ? NO_ANSWER : reason;
}

/** Takes the credentials of a URI out of a text. */
export function redact(text: string, uri: string): string {
  const authority = PARTS.exec(uri)?.[2] ?? '';
  const credentials = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
  const [, ...password] = credentials.split(':');
  const secrets = [credentials, password.join(':')].flatMap((secret) => [secret, decode(secret)]);
  return secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
