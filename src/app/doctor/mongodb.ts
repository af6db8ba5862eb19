import { once } from 'node:events';
import { type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { json } from 'node:stream/consumers';

import { mongo } from 'mongoose';

import { hostSettings } from '../../core/settings/host-settings';
import type { Settings } from '../../core/settings/settings';
import { isRecord } from '../../core/values';
import { redisVersion } from '../../servers';
import { urlOf } from '../listen';
import { fault, type Finding, good, type OfflineCheck, type OnlineCheck } from './check';

/** How long the server may take to respond; it checks MongoDB and Redis for up to a second. */
const PATIENCE_MS = 5000;
/** The first version with snapshot reads, which backups need. */
const LEAST_VERSION = 5;
/** The tolerated clock skew; with more, things expire early or late. */
const MAX_SKEW_MS = 2000;
/** The member states primary, secondary and arbiter. */
const GOOD_STATES: readonly unknown[] = [1, 2, 7];

/** Asks the server of these settings, if one is running, whether it is ready. */
export const server: OfflineCheck = async (settings) => {
  const check = 'server';
  const url = readinessUrl(settings);
  const readiness = await ask(url).catch(() => undefined);
  if (!isRecord(readiness)) return [good(check, `not running at ${url.host}`)];
  const { error, warnings = [] } = readiness;
  const said = [error, warnings].flat().filter((each) => typeof each === 'string');
  if (said.length === 0) return [good(check, `ready at ${url.host}`)];
  return said.map((each) => fault(check, `The server at ${url.host} says: ${each}`));
};

function readinessUrl(settings: Settings): URL {
  const host = settings.of(hostSettings.host);
  // A server that listens on all addresses is reachable on loopback.
  const loopback = new Map([['0.0.0.0', '127.0.0.1']]).set('::', '::1');
  const url = urlOf(settings, loopback.get(host) ?? host, settings.of(hostSettings.port));
  return new URL('/readyz', url);
}

async function ask(url: URL): Promise<unknown> {
  const send = url.protocol === 'https:' ? requestByHttps : requestByHttp;
  // Its certificate is for its public name, not for the address used here.
  const options = { rejectUnauthorized: false, signal: AbortSignal.timeout(PATIENCE_MS) };
  const request = send(url, options).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return json(response);
}

/** Checks the version, the members and the clock of MongoDB. */
export const mongodb: OnlineCheck = async ({ app }) => {
  const admin = app.database.connection.getClient().db('admin');
  const { version } = await admin.admin().serverInfo();
  const sent = Date.now();
  const hello: Record<string, unknown> = await admin.command({ hello: 1 });
  const clock = clockFinding(hello['localTime'], sent, Date.now());
  const members = await membersFinding(admin, hello['setName']);
  if (Number.parseInt(String(version)) >= LEAST_VERSION) {
    return [good('MongoDB', `version ${version}`), members, clock];
  }
  const remedy = `update it to ${LEAST_VERSION}.0 or later`;
  return [
    fault('MongoDB', `MongoDB ${version} is too old for backups: ${remedy}.`),
    members,
    clock,
  ];
};

async function membersFinding(admin: mongo.Db, name: unknown): Promise<Finding> {
  const check = 'replica set';
  if (typeof name !== 'string') return good(check, 'a sharded cluster');
  let status: Record<string, unknown>;
  try {
    status = await admin.command({ replSetGetStatus: 1 });
  } catch (error) {
    if (!(error instanceof mongo.MongoServerError)) throw error;
    return good(check, `${name}; this user may not see its members`);
  }
  const members = Array.isArray(status['members']) ? status['members'].filter(isRecord) : [];
  const ill = members.filter(({ state }) => !GOOD_STATES.includes(state));
  const all = `${members.length} healthy ${members.length === 1 ? 'member' : 'members'}`;
  if (ill.length === 0) return good(check, `${name}, ${all}`);
  const named = ill.map((member) => `${String(member['name'])} is ${String(member['stateStr'])}`);
  return fault(
    check,
    `In the replica set ${name}, ${named.join(', ')}: start it, or check its log.`,
  );
}

function clockFinding(time: unknown, sent: number, received: number): Finding {
  const check = 'clock';
  if (!(time instanceof Date)) return good(check, 'MongoDB does not report its time');
  const moment = time.getTime();
  const skew = moment < sent ? moment - sent : Math.max(0, moment - received);
  const apart = `${(Math.abs(skew) / 1000).toFixed(1)} s`;
  if (Math.abs(skew) <= MAX_SKEW_MS) return good(check, `within ${apart} of MongoDB's`);
  const how = skew > 0 ? 'behind' : 'ahead of';
  return fault(check, `The clock is ${apart} ${how} that of MongoDB: synchronize both with NTP.`);
}

/** Checks that Redis responds and takes writes. */
export const redis: OnlineCheck = async ({ app, servers: { redisUrl } }) => {
  const check = 'Redis';
  if (redisUrl === undefined)
    return [good(check, 'none: each process counts rate limits for itself')];
  const version = await redisVersion(redisUrl);
  const refusal = await app.refusalOfRedis();
  if (version !== undefined && refusal === undefined) return [good(check, `version ${version}`)];
  const [state, remedy] =
    version === undefined
      ? ['does not respond', 'start it, or check REDIS_URL']
      : [`refuses writes (${refusal})`, 'see docs/operations.md, "Redis is down"'];
  return [
    fault(check, `Redis ${state}, so each process counts rate limits for itself: ${remedy}.`),
  ];
};
