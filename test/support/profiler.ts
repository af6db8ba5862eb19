import type { TestService } from './service';

/** A query as MongoDB ran it. */
export interface ProfiledQuery {
  collection: string;
  /** What the program sent. */
  command: string;
  plan: string;
  sortsInMemory: boolean;
  keysExamined: number;
  docsExamined: number;
  returned: number;
}

// The part of system.profile that is read here.
interface ProfileEntry {
  ns: string;
  op: string;
  command?: object;
  planSummary?: string;
  hasSortStage?: boolean;
  keysExamined?: number;
  docsExamined?: number;
  nreturned?: number;
}

/**
 * Returns the queries that MongoDB runs on the database of a service during some work. The service must
 * not run jobs: they read all accounts.
 */
export async function queriesOf(
  service: TestService,
  work: () => Promise<unknown>,
): Promise<ProfiledQuery[]> {
  if (service.runsJobs) throw new Error('Start the service with `jobs: false`.');
  const { db } = service.app.database.connection;
  if (!db) throw new Error('The service is not connected.');
  await db.command({ profile: 0 });
  await db.dropCollection('system.profile');
  await db.createCollection('system.profile', { capped: true, size: 64 * 1024 * 1024 });
  await db.command({ profile: 2 });
  try {
    await work();
  } finally {
    await db.command({ profile: 0 });
  }
  const entries = await db
    .collection('system.profile')
    .find<ProfileEntry>({ planSummary: { $exists: true } })
    .toArray();
  return entries
    .filter(({ ns }) => !ns.endsWith('.system.profile'))
    .map((entry) => ({
      collection: entry.ns.slice(entry.ns.indexOf('.') + 1),
      command: `${entry.op} ${JSON.stringify(entry.command).slice(0, 400)}`,
      plan: entry.planSummary ?? '',
      sortsInMemory: entry.hasSortStage ?? false,
      keysExamined: entry.keysExamined ?? 0,
      docsExamined: entry.docsExamined ?? 0,
      returned: entry.nreturned ?? 0,
    }));
}
