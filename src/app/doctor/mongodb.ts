import { mongo } from 'mongoose';

import { isRecord } from '../../core/values';
import { fault, type Finding, good } from '../../plugins/check';
import type { OnlineCheck } from './check';

/** The first version with snapshot reads, which backups need. */
const LEAST_VERSION = 5;
/** The tolerated clock skew; with more, things expire early or late. */
const MAX_SKEW_MS = 2000;
/** The member states primary, secondary and arbiter. */
const GOOD_STATES: readonly unknown[] = [1, 2, 7];

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
