import { deliveriesOf, Receiver, webhookOf } from '../../../plugins/webhooks/test/receiver';
import { backendOf } from '../../support/backend';
import { record } from '../../support/client';
import { until } from '../../support/processes';
import { startService, userOf } from '../../support/program';
import type { TestService, TestUser } from '../../support/service';

const env = { WEBHOOK_ALLOW_PRIVATE: 'true' };
const SPACED_MS = 5000;
/** Timers of the receiver and of the sender differ by this much at most. */
const TOLERANCE_MS = 100;

let service: TestService;
let other: TestService;
let shop: TestUser;
let receiver: Receiver;

beforeAll(async () => {
  service = await startService({ env });
  other = await startService({ env, mongodbUri: service.mongodbUri });
  shop = await backendOf(service, 'shop');
});
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.close();
});
afterAll(async () => {
  await other.close();
  await service.close();
});

async function subscribed(...events: string[]) {
  return webhookOf(shop, receiver.url, 'account.changed', ...events);
}

async function revisionOf({ id }: TestUser): Promise<number> {
  const accounts = service.app.database.connection.collection('accounts');
  return Number((await accounts.findOne({ _id: id as never }))?.['revision']); // Not a UUID.
}

/** Waits until an account's last revision was received; returns all messages about it. */
async function untilLast(user: TestUser) {
  const last = async (): Promise<boolean> => {
    const message = receiver.of(user.id).at(-1);
    return (
      message !== undefined && record(message.body['data'])['revision'] === (await revisionOf(user))
    );
  };
  await until(last);
  return receiver.of(user.id);
}

test('account.changed is sent at most every 5 s for an account, and its last revision always', async () => {
  const { path } = await subscribed();
  const [busy, calm] = [await service.user(), await service.user()];
  const plant = `/api/plants/${(await busy.plant()).id}`;
  await calm.plant();
  const begun = performance.now();
  for (let index = 0; performance.now() - begun < 2.5 * SPACED_MS; index += 1) {
    const { url } = index % 2 === 0 ? service : other;
    const edit = userOf(url, busy.id, busy.token).patch(plant);
    await edit.send({ notes: `${index}` }).expect(200);
  }
  const messages = await untilLast(busy);
  expect(messages.length).toBeGreaterThan(2);
  for (const [index, { at, body }] of messages.entries()) {
    const before = messages[index - 1];
    if (!before) continue;
    expect(at - before.at).toBeGreaterThan(SPACED_MS - TOLERANCE_MS);
    const [earlier, later] = [before.body, body].map(({ data }) =>
      Number(record(data)['revision']),
    );
    expect(later).toBeGreaterThan(earlier ?? Infinity);
  }
  for (const { body } of messages) {
    expect(Object.keys(record(body['data']))).toEqual(['userId', 'revision']);
  }
  expect(await untilLast(calm)).toHaveLength(1);
  // Those that others replaced are not listed.
  const listed = (await deliveriesOf(shop, path)).filter(({ userId }) => userId === busy.id);
  expect(listed).toHaveLength(1);
  await shop.delete(path).expect(200);
});

test('a change while a delivery fails is sent after it', async () => {
  const { path } = await subscribed();
  const user = await service.user();
  const failures = [500, 500];
  receiver.answer = () => failures.shift() ?? 200;
  await user.plant();
  await receiver.until(user.id, 1);
  await user.plant();
  await untilLast(user);
  await shop.delete(path).expect(200);
});

test('the first webhook that subscribes is told of changes from then on', async () => {
  // Nobody subscribed here before, so that nothing still reads the changes.
  const fresh = await startService({ env });
  const backend = await backendOf(fresh, 'shop');
  const [before, after] = [await fresh.user(), await fresh.user()];
  const { path } = await webhookOf(backend, receiver.url, 'tier.changed');
  await before.plant();
  await backend.patch(path, { events: ['account.changed'] }).expect(200);
  await after.plant();
  await receiver.until(after.id, 1);
  expect(receiver.of(before.id)).toEqual([]);
  await fresh.close();
});

/** A position from which MongoDB cannot continue: the end of a collection. */
async function lostPosition({ app }: TestService): Promise<object> {
  const { db } = app.database.connection;
  if (!db) throw new Error('The service is not connected.');
  const collection = await db.createCollection('ended');
  const stream = collection.watch();
  await stream.tryNext();
  await collection.drop();
  for await (const { operationType, _id } of stream) {
    if (operationType === 'invalidate') return { resumeAfter: _id };
  }
  throw new Error('The collection has not ended.');
}

test('once the changes are lost, all accounts are announced', async () => {
  const fresh = await startService({ env, jobs: false });
  const backend = await backendOf(fresh, 'shop');
  await webhookOf(backend, receiver.url, 'account.changed');
  const users = [await fresh.user(), await fresh.user()];
  const { connection } = fresh.app.database;
  const position = await lostPosition(fresh);
  await connection.collection('webhookClocks').updateMany({}, { $set: { position } });
  const stopping = new AbortController();
  const reading = fresh.runJob('webhook account changes', stopping.signal);
  const told = connection.collection('webhookDeliveries');
  const isTold = ({ id }: TestUser) => told.findOne({ userId: id, type: 'account.changed' });
  await until(async () => (await Promise.all(users.map(isTold))).every((each) => each !== null));
  stopping.abort();
  await reading;
  expect(fresh.logged.join('')).toContain('not read for too long');
  await fresh.close();
});

test('nothing follows account.deleted', async () => {
  const { path } = await subscribed('account.deleted');
  const [user, next] = [await service.user(), await service.user()];
  await user.plant();
  await user.delete('/api/account').send({ confirm: user.id }).expect(200);
  await until(() => receiver.typesOf(user.id).includes('account.deleted'));
  await next.plant();
  await untilLast(next);
  expect(receiver.typesOf(user.id).at(-1)).toBe('account.deleted');
  await shop.delete(path).expect(200);
});
