import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { mongo } from 'mongoose';

import { Receiver, webhookOf } from '../../plugins/webhooks/test/receiver';
import { backendOf } from '../support/backend';
import { record, records } from '../support/client';
import { resetClock, setClock } from '../support/clock';
import { freshDatabase, newId, pruneDeletions, startService, until } from '../support/program';
import type { TestService, TestUser } from '../support/service';

const LONG_AGO = '2030-01-01T00:00:00Z';
const BEFORE = '2037-01-02T06:59:00Z';
const NOW = '2037-01-02T07:00:00Z';
const DECADE_SECONDS = 10 * 366 * 24 * 3600;

/** Whether a job did its work for an account. */
type IsDone = (user: TestUser) => Promise<boolean> | boolean;

/** Gives a job work for three accounts that fails for one of them. */
type Arrange = (users: readonly TestUser[], bad: TestUser) => Promise<IsDone>;

let service: TestService;
let shop: TestUser;
let receiver: Receiver;
let folder: string;
/** What MongoDB refuses to store, by collection. */
const refused: Record<string, mongo.Document[]> = {};

const stored = (name: string) => service.app.database.connection.collection(name);

/** Three users: in the order of their ids and of their creation, the one that fails comes first. */
async function threeUsers(): Promise<[TestUser, TestUser, TestUser]> {
  const made = () =>
    service.user({ id: `user-${newId().toHexString()}`, expiresInSeconds: DECADE_SECONDS });
  return [await made(), await made(), await made()];
}

/** Whether no document of a collection matches. */
async function isNone(name: string, filter: object): Promise<boolean> {
  return (await stored(name).countDocuments(filter)) === 0;
}

/** How each job fails for one account, or why it cannot. */
const JOBS: Record<string, string | Arrange> = {
  'idempotency key expiry': 'an index of MongoDB, and one command',
  'count of expiring tokens': 'two commands that count',
  'deletion record pruning': 'pruned with lower limits below',
  backup: 'it works through files, below',
  'webhook account changes': 'it follows changes and stores its position, whichever account fails',
  'webhook cleanup': 'it works through webhooks, below',
  'audit log pruning': async (_users, { id }) => {
    refused['auditHeads'] = [{ _id: `account/${id}`, pruned: { $type: 'object' } }];
    return (user) => isNone('auditEntries', { chain: `account/${user.id}` });
  },
  'mark the events of deleted plants deleted': async (users, { id }) => {
    for (const user of users) {
      const plant = await user.plant();
      await user.event(plant.id);
      await user.delete(`/api/plants/${plant.id}`).expect(200);
    }
    refused['events'] = [{ userId: id, deletedAt: { $type: 'date' } }];
    return (user) => isNone('events', { userId: user.id, deletedAt: null });
  },
  'webhook delivery': async (users, { id }) => {
    await webhookOf(shop, receiver.url, 'plant.created');
    for (const user of users) await user.plant();
    await stored('webhookDeliveries').updateOne({ userId: id }, { $set: { dayIn: 'No/Zone' } });
    return (user) => receiver.typesOf(user.id).includes('plant.created');
  },
  'webhook reminders': async (users, { id }) => {
    await webhookOf(shop, receiver.url, 'care.due');
    for (const user of users) await user.plant({ wateringFrequencyDays: 1 });
    await stored('accounts').updateOne({ _id: id as never }, { $set: { timezone: 'No/Zone' } });
    return (user) => receiver.typesOf(user.id).includes('care.due');
  },
  reminders: async (users, { id }) => {
    const url = `${receiver.url}/reminder`;
    for (const user of users) {
      await user.plant({ wateringFrequencyDays: 1 });
      await user.post('/api/account/reminders', { channel: 'url', url }).expect(201);
    }
    await stored('reminders').updateOne({ userId: id }, { $set: { timezone: 'No/Zone' } });
    return (user) => receiver.of(user.id).some(({ path: at }) => at === '/reminder');
  },
  'webhook tiers': async (users, { id }) => {
    await webhookOf(shop, receiver.url, 'tier.changed');
    for (const user of users) {
      const tierUntil = new Date(Date.parse(NOW) - 1000);
      await shop.put(`/api/accounts/${user.id}`, { tier: 'pro', tierUntil }).expect(200);
    }
    refused['webhookDeliveries'] = [{ userId: id, type: 'tier.changed' }];
    return (user) => receiver.typesOf(user.id).includes('tier.changed');
  },
  'deletion of closed accounts': async (users, { id }) => {
    const { path: waiting } = await webhookOf(shop, receiver.url, 'plant.created');
    for (const user of users) {
      await user.plant();
      await user.delete('/api/account').send({ confirm: user.id }).expect(200);
    }
    await shop.patch(waiting, { active: false }).expect(200);
    refused['webhookDeliveries']?.push({ userId: id, isLast: true });
    return (user) => isNone('accounts', { _id: user.id });
  },
};

/** The names of accounts in the log, from a request of each. */
async function hashOf(user: TestUser): Promise<unknown> {
  const requestId = `hash-of-${newId().toHexString()}`;
  await user.get('/api/account').set('X-Request-Id', requestId);
  const lines = () => service.logged.filter((line) => line.includes(requestId));
  await until(() => lines().some((line) => line.includes('"operation"')));
  return linesOf(lines()).find(({ account }) => account !== undefined)?.['account'];
}

function linesOf(lines: readonly string[]): Record<string, unknown>[] {
  return lines.map((line) => record(JSON.parse(line)));
}

/** The line about a failure of a job. */
async function failureOf(job: string): Promise<Record<string, unknown>> {
  const ofJob = () => linesOf(service.logged).find((line) => line['job'] === job);
  await until(() => ofJob() !== undefined);
  return record(ofJob());
}

/** The accounts of each job; its work fails for the first. */
const people = new Map<string, TestUser[]>();
const hashes = new Map<string, unknown>();
const done = new Map<string, IsDone>();
const arranged = Object.entries(JOBS).flatMap(([name, arrange]) =>
  typeof arrange === 'string' ? [] : [{ name, arrange }],
);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'backups-'));
  receiver = await Receiver.start();
  setClock(LONG_AGO);
  const backups = { BACKUP_EVERY_HOURS: '1', BACKUP_DIR: folder, BACKUP_KEEP: '1' };
  const env = { WEBHOOK_ALLOW_PRIVATE: 'true', ...backups };
  // Not of the pool: it refuses documents.
  service = await startService({ jobs: false, mongodbUri: freshDatabase(), env });
  shop = await backendOf(service, 'shop', DECADE_SECONDS);
  for (const { name } of arranged) {
    const users = await threeUsers();
    people.set(name, users);
    hashes.set(users[0].id, await hashOf(users[0]));
  }
  setClock(BEFORE);
  for (const { name, arrange } of arranged) {
    const [bad = shop, ...good] = people.get(name) ?? [];
    done.set(name, await arrange([bad, ...good], bad));
  }
  const clocks = ['webhook reminders', 'webhook tiers'].map((_id) => ({ _id, until: new Date() }));
  await stored('webhookClocks').insertMany(clocks as object[]);
  const clock: object = { _id: 'url', until: new Date(), open: [] };
  await stored('reminderClocks').insertMany([clock]);
  for (const [collMod, faults] of Object.entries(refused)) {
    await service.app.database.connection.db?.command({ collMod, validator: { $nor: faults } });
  }
  await arrangeFiles();
  await arrangeWebhooks();
  setClock(NOW);
  service.app.startJobs();
});
afterAll(async () => {
  await service.app.database.connection.dropDatabase();
  await service.close();
  await receiver.close();
  resetClock();
  await rm(folder, { recursive: true });
});

const OLDEST = 'plant-care-scheduled-2019-01-01T00-00-00Z.tar.gz';

/** Folders in the place of a backup and of an incomplete one, which cannot be removed as files. */
async function arrangeFiles(): Promise<void> {
  const folders = [
    'plant-care-scheduled-2020-01-01T00-00-00Z.tar.gz',
    'plant-care-scheduled-1.tar.gz.00000001.partial',
  ];
  for (const name of folders) await mkdir(path.join(folder, name));
  for (const name of [OLDEST, 'plant-care-scheduled-2.tar.gz.00000002.partial']) {
    await writeFile(path.join(folder, name), '');
  }
  // Files that somebody may still be writing stay.
  for (const name of await readdir(folder)) {
    if (name.endsWith('.partial')) await utimes(path.join(folder, name), 0, 0);
  }
}

/** Deliveries of two webhooks that are gone; the id of one cannot be read. */
async function arrangeWebhooks(): Promise<void> {
  const { _id, ...delivery } = record(await stored('webhookDeliveries').findOne({}));
  expect(_id).toBeDefined();
  const deliveries = ['broken', newId()].map((webhookId) => ({ ...delivery, webhookId }));
  await stored('webhookDeliveries').insertMany(
    deliveries.map((each) => ({ ...each, _id: newId() as never, userId: 'gone' })),
  );
}

test('every job is tested here', () => {
  expect(service.app.jobs.map(({ name }) => name).sort()).toEqual(Object.keys(JOBS).sort());
});

test.each(arranged)('$name: one account that fails stops no other, and is logged', async (one) => {
  const [bad = shop, ...good] = people.get(one.name) ?? [];
  const isDone = done.get(one.name) ?? (() => false);
  for (const user of good) await until(() => isDone(user));
  expect(await failureOf(one.name)).toMatchObject({ accounts: [hashes.get(bad.id)] });
  expect(await isDone(bad)).toBe(false);
  expect(service.logged.join('')).not.toContain(bad.id);
});

test('deletion record pruning: one account that fails stops no other, and is named', async () => {
  const [bad, ...good] = await threeUsers();
  for (const user of [bad, ...good]) {
    for (let count = 0; count < 5; count += 1) {
      await user.delete(`/api/plants/${(await user.plant()).id}`).expect(200);
    }
  }
  const validator = { $nor: [{ userId: bad.id }] };
  await service.app.database.connection.db?.command({ collMod: 'deletions', validator });
  const { signal } = new AbortController();
  const run = pruneDeletions(service.app, signal, { kept: 2, max: 4 });
  await expect(run).rejects.toMatchObject({ accounts: [bad.id] });
  const left = (user: TestUser) => stored('deletions').countDocuments({ userId: user.id });
  expect(await left(bad)).toBe(5);
  for (const user of good) expect(await left(user)).toBeLessThan(5);
});

test('backup: a file that cannot be removed stops neither the backup nor the removal of others', async () => {
  await failureOf('backup');
  const names = await readdir(folder);
  expect(names).toContainEqual(expect.stringMatching(/^plant-care-scheduled-2037.*gz$/));
  expect(names).not.toContain(OLDEST);
  expect(names).not.toContain('plant-care-scheduled-2.tar.gz.00000002.partial');
});

test('webhook cleanup: a webhook that fails stops no other', async () => {
  await failureOf('webhook cleanup');
  const left = await stored('webhookDeliveries').find({ userId: 'gone' }).toArray();
  expect(records(left)).toMatchObject([{ webhookId: 'broken' }]);
});
