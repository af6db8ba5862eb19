import { mongo } from 'mongoose';

import { isRecord } from '../../core/values';
import { fault, type Finding, good, type OnlineCheck } from './check';

/** Reads at one moment, which backups need, are there since this version. */
const LEAST_VERSION = 5;
/** How far clocks may be apart: more, and what expires does so early or late. */
const MAX_SKEW_MS = 2000;
/** States of members that are as they should be: primary, secondary, arbiter. */
const GOOD_STATES: readonly unknown[] = [1, 2, 7];

/** Version, members and clock of MongoDB. */
export const mongodb: OnlineCheck = async ({ app }) => {
  const admin = app.database.connection.getClient().db('admin');
  const { version } = await admin.admin().serverInfo();
  const sent = Date.now();
  const hello: Record<string, unknown> = await admin.command({ hello: 1 });
  const received = Date.now();
  return [
    versionFinding(String(version)),
    await membersFinding(admin, hello),
    clockFinding(hello['localTime'], { sent, received }),
  ];
};

function versionFinding(version: string): Finding {
  if (Number.parseInt(version) >= LEAST_VERSION) return good('MongoDB', `version ${version}`);
  return fault(
    'MongoDB',
    `MongoDB ${version} is too old for backups: update it to ${LEAST_VERSION}.0 or later.`,
  );
}

async function membersFinding(admin: mongo.Db, hello: Record<string, unknown>): Promise<Finding> {
  const check = 'replica set';
  const name = hello['setName'];
  if (typeof name !== 'string') return good(check, 'a sharded cluster');
  const status = await statusOf(admin);
  if (!status) return good(check, `${name}; its members are not for this user to see`);
  const members = Array.isArray(status['members']) ? status['members'].filter(isRecord) : [];
  const ill = members.filter(({ state }) => !GOOD_STATES.includes(state));
  if (ill.length === 0) return good(check, `${name} with ${members.length} members, all well`);
  const named = ill.map((member) => `${String(member['name'])} is ${String(member['stateStr'])}`);
  return fault(check, `Of ${name} ${named.join(', ')}: start it, or see its log.`);
}

/** Undefined where the user may not ask. */
async function statusOf(admin: mongo.Db): Promise<Record<string, unknown> | undefined> {
  try {
    return await admin.command({ replSetGetStatus: 1 });
  } catch (error) {
    if (error instanceof mongo.MongoServerError) return undefined;
    throw error;
  }
}

function clockFinding(
  time: unknown,
  { sent, received }: { sent: number; received: number },
): Finding {
  const check = 'clock';
  if (!(time instanceof Date)) return good(check, 'MongoDB does not say what time it is');
  const moment = time.getTime();
  const skew = moment < sent ? moment - sent : Math.max(0, moment - received);
  const apart = `${(Math.abs(skew) / 1000).toFixed(1)} s`;
  if (Math.abs(skew) <= MAX_SKEW_MS) return good(check, `as that of MongoDB, to ${apart}`);
  const how = skew > 0 ? 'behind' : 'ahead of';
  return fault(check, `The clock is ${apart} ${how} that of MongoDB: set both by NTP.`);
}
