import { mongo } from 'mongoose';

import { APP_NAME } from '../mongodb/orphans';

/** The application name of connections for long snapshot reads. */
export const READER_NAME = `${APP_NAME}-reader`;

/** How long MongoDB keeps snapshots by default, and for a long read. */
const DEFAULT_SECONDS = 300;
const LONG_SECONDS = 24 * 60 * 60;

/** Makes a managed MongoDB keep snapshots for a long read. */
export async function keepHistory(client: mongo.MongoClient): Promise<void> {
  await keep(client, LONG_SECONDS);
}

/** Makes a managed MongoDB keep snapshots no longer than by default, unless a long read is in progress. */
export async function releaseHistory(client: mongo.MongoClient): Promise<void> {
  if (await hasReaders(client)) return;
  await keep(client, DEFAULT_SECONDS);
  // A read may have started meanwhile.
  if (await hasReaders(client)) await keepHistory(client);
}

/** Readers are found by their connections, which end if the process is killed. */
async function hasReaders(client: mongo.MongoClient): Promise<boolean> {
  const stages = [
    { $currentOp: { allUsers: true, idleConnections: true } },
    { $match: { appName: READER_NAME } },
    { $limit: 1 },
  ];
  // `$currentOp` supports no other read concern.
  const local = { readConcern: { level: 'local' } } as const;
  return (await client.db('admin').aggregate(stages, local).toArray()).length > 0;
}

async function keep(client: mongo.MongoClient, seconds: number): Promise<void> {
  const command = { setParameter: 1, minSnapshotHistoryWindowInSeconds: seconds };
  await client.db('admin').command(command);
}
