import { mongo } from 'mongoose';

import { APP_NAME } from '../mongodb/orphans';

/** How the program calls itself on connections by which it reads one moment for long. */
export const READER_NAME = `${APP_NAME}-reader`;

/** How long MongoDB keeps the past unless it is asked for more, and how long a long read needs it. */
const DEFAULT_SECONDS = 300;
const LONG_SECONDS = 24 * 60 * 60;

/** Has a managed MongoDB keep the past for a long read. */
export async function keepHistory(client: mongo.MongoClient): Promise<void> {
  await keep(client, LONG_SECONDS);
}

/** Has a managed MongoDB keep no more of the past than by default, unless somebody reads it. */
export async function releaseHistory(client: mongo.MongoClient): Promise<void> {
  if (await hasReaders(client)) return;
  await keep(client, DEFAULT_SECONDS);
  // One that came meanwhile has just asked for more.
  if (await hasReaders(client)) await keepHistory(client);
}

/** By connections, since those of a program that is killed end with it. */
async function hasReaders(client: mongo.MongoClient): Promise<boolean> {
  const stages = [
    { $currentOp: { allUsers: true, idleConnections: true } },
    { $match: { appName: READER_NAME } },
    { $limit: 1 },
  ];
  // `$currentOp` knows no other read concern.
  const local = { readConcern: { level: 'local' } } as const;
  return (await client.db('admin').aggregate(stages, local).toArray()).length > 0;
}

async function keep(client: mongo.MongoClient, seconds: number): Promise<void> {
  const command = { setParameter: 1, minSnapshotHistoryWindowInSeconds: seconds };
  await client.db('admin').command(command);
}
