import { mongo } from 'mongoose';
import { setTimeout as sleep } from 'node:timers/promises';
import { PortTakenError } from './errors';
import { isRecord } from './json-file';
import { LOOPBACK } from './ports';
import { untilListening } from './listening';
import type { ServerKind } from './server-kind';

const REPLICA_SET = 'plantcare';
const NOT_INITIATED = 94;
const ALREADY_INITIATED = 23;

/** Where an embedded mongod is reached. */
export function embeddedUri(port: number, database: string): string {
  return `mongodb://${LOOPBACK}:${port}/${database}?directConnection=true`;
}

/** mongod as a replica set of one, because transactions need a replica set. */
export const mongod: ServerKind = {
  name: 'mongod',
  title: 'MongoDB',
  folder: 'mongodb',
  // Its journal keeps what it has acknowledged, also when it is ended by force.
  grace: 6_000,

  arguments: (port, home) => [
    ...['--dbpath', home, '--port', String(port), '--bind_ip', LOOPBACK, '--nounixsocket'],
    ...['--replSet', REPLICA_SET],
    // The defaults, half of the memory and a part of the disk, are for a machine of its own.
    ...['--wiredTigerCacheSizeGB', '0.5', '--oplogSize', '256'],
    ...['--quiet', '--setParameter', 'diagnosticDataCollectionEnabled=false'],
  ],

  async becomeReady(port, pid, signal) {
    await untilListening(port, signal);
    await asAdmin(port, async (admin) => {
      await untilPrimary(admin, port, signal);
      const status: unknown = await admin.command({ serverStatus: 1 }, { signal });
      if (!isRecord(status) || status['pid'] !== pid) throw new PortTakenError(port);
    });
  },

  // A transaction outlives the program that was killed in it by a minute, and all the while no
  // other can write to what it wrote.
  async takeOver(port, signal) {
    await asAdmin(port, (admin) => admin.command({ killAllSessions: [] }, { signal }));
  },

  lastError(log) {
    const complaints = log.split('\n').filter(Boolean).map(parseLine).filter(isComplaint);
    return complaints.map(describe).at(-1)?.replace(/\s+/g, ' ');
  },

  portWasTaken: (log) => log.includes('Address already in use'),

  refusedData: (log) =>
    log.split('\n').map(parseLine).filter(isComplaint).map(describe).some(isAboutVersions),
};

async function asAdmin(port: number, work: (admin: mongo.Db) => Promise<unknown>): Promise<void> {
  const client = new mongo.MongoClient(embeddedUri(port, 'admin'), {
    serverSelectionTimeoutMS: 3_000,
    maxPoolSize: 1,
  });
  try {
    await work(client.db('admin'));
  } finally {
    await client.close(true);
  }
}

/** Asks until the node takes writes. While it starts, and on a slow disk, it may refuse or be silent. */
async function untilPrimary(admin: mongo.Db, port: number, signal: AbortSignal): Promise<void> {
  let trouble: unknown;
  for (;;) {
    try {
      if (await isPrimary(admin, port, signal)) return;
    } catch (error) {
      trouble = error;
    }
    if (signal.aborted) throw trouble ?? signal.reason;
    await sleep(20);
  }
}

async function isPrimary(admin: mongo.Db, port: number, signal: AbortSignal): Promise<boolean> {
  const hello: Record<string, unknown> = await admin.command({ hello: 1 }, { signal });
  if (hello['isWritablePrimary'] === true) return true;
  if (hello['setName'] === undefined) await configure(admin, `${LOOPBACK}:${port}`);
  return false;
}

/** Makes the node a member of its set: a fresh one, and one whose port has changed, is in none. */
async function configure(admin: mongo.Db, host: string): Promise<void> {
  try {
    const answer: unknown = (await admin.command({ replSetGetConfig: 1 }))['config'];
    if (!isRecord(answer)) return;
    const version = Number(answer['version']) + 1;
    const config = { ...answer, version, members: [{ _id: 0, host }] };
    await admin.command({ replSetReconfig: config, force: true });
  } catch (error) {
    if (!hasCode(error, NOT_INITIATED)) throw error;
    await initiate(admin, host);
  }
}

async function initiate(admin: mongo.Db, host: string): Promise<void> {
  try {
    const config = { _id: REPLICA_SET, members: [{ _id: 0, host }] };
    await admin.command({ replSetInitiate: config });
  } catch (error) {
    // It was still reading the configuration that it has.
    if (!hasCode(error, ALREADY_INITIATED)) throw error;
  }
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof mongo.MongoServerError && error.code === code;
}

function isAboutVersions(complaint: string): boolean {
  return /UPGRADE PROBLEM|compatibility ?version|mongod version|unsupported WiredTiger/i.test(
    complaint,
  );
}

// mongod logs a JSON object a line; only what it says before it can log is plain text.
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

function isComplaint(line: unknown): boolean {
  if (!isRecord(line)) return typeof line === 'string' && /error|fail/i.test(line);
  if (line['s'] !== 'E' && line['s'] !== 'F') return false;
  // How and where it crashed follows the complaint, and says nothing to an operator.
  if (line['msg'] === 'Writing fatal message' || detailOf(line)?.includes('PANIC') === true)
    return false;
  return line['c'] !== 'ASSERT' || detailOf(line) !== undefined;
}

function describe(line: unknown): string {
  if (!isRecord(line)) return String(line);
  const detail = detailOf(line);
  return detail === undefined ? String(line['msg']) : `${String(line['msg'])}: ${detail}`;
}

function detailOf(line: Record<string, unknown>): string | undefined {
  if (!isRecord(line['attr'])) return undefined;
  const { error, message, reason } = line['attr'];
  const texts = [message, error, reason].flatMap((one) =>
    isRecord(one) ? [one['errmsg'], one['error_str'], one['msg']] : [one],
  );
  return texts.find((text) => typeof text === 'string');
}
