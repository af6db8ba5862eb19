import { Webhook } from 'standardwebhooks';
import type { Response } from 'supertest';

import { newId } from '../../../src/core/ids';
import { record, records } from '../../../test/support/client';
import { resetClock, runJobsAt, setClock } from '../../../test/support/clock';
import { anyId, anyInstant, bodyOf, expectError, faultsOf } from '../../../test/support/shapes';
import { until } from '../../../test/support/processes';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { letIn } from '../../../test/support/sharing';
import { Device, type Posted, Receiver } from './receivers';

const PATH = '/api/account/reminders';

let service: TestService;
let receiver: Receiver;
let count = 0;

beforeAll(async () => {
  // In the future: MongoDB deletes expired deliveries by its own clock.
  setClock('2037-01-01T00:00:00Z');
  // Without its jobs, so that reminders come when a test says so.
  service = await startService({ jobs: false, env: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
  receiver = await Receiver.start();
});
beforeEach(async () => {
  setClock('2037-01-01T00:00:00Z');
  receiver.answer = () => 201;
  for (const name of ['reminderClocks', 'reminders']) await collection(name).deleteMany({});
});
afterAll(async () => {
  resetClock();
  await service.close();
  await receiver.close();
});

function collection(name: string) {
  return service.app.database.connection.collection(name);
}

/** Stores a document several times, each under an id of its own. */
async function copy(name: string, document: object, times: number): Promise<void> {
  const copies = Array.from({ length: times }, () => {
    const copied: object = { ...document, _id: newId() };
    return { insertOne: { document: copied } };
  });
  await collection(name).bulkWrite(copies);
}

/** Runs the jobs at some moments. */
function runAt(...moments: readonly string[]): Promise<void> {
  return runJobsAt(service, ['reminders', 'webhook delivery'], moments);
}

async function thirsty(fields: object = {}, names: readonly string[] = ['Fern']) {
  const user = await service.user({ expiresInSeconds: 360 * 24 * 3600 });
  await user.patch('/api/account', { timezone: 'UTC', ...fields }).expect(200);
  for (const name of names) await user.plant({ name, wateringFrequencyDays: 1 });
  return user;
}

/** Sets a reminder; returns it with where it is sent. */
async function remind(user: TestUser, channel: 'url' | 'ntfy' | 'push', fields: object = {}) {
  count += 1;
  const path = `/${channel}/${count}`;
  const device = new Device(receiver, path);
  const { subscription } = device;
  const to = channel === 'push' ? { subscription } : { url: receiver.url + path };
  const made = bodyOf(await user.post(PATH, { channel, ...to, ...fields }).expect(201));
  return {
    made,
    device,
    path,
    at: `${PATH}/${String(made['id'])}`,
    take: () => receiver.take(path),
  };
}

async function listed(user: TestUser): Promise<Record<string, unknown>[]> {
  return records(bodyOf(await user.get(PATH).expect(200))['items']);
}

async function tested(user: TestUser, at: string) {
  return bodyOf(await user.post(`${at}/test`).set('Idempotency-Key', 'test').expect(200));
}

/** The field of the only fault, with its place. */
function fieldOf(response: Response): unknown {
  expectError(response, 400, 'validation_error');
  return records(bodyOf(response)['details'])[0]?.['field'];
}

/** A header in words of RFC 2047. */
function decoded(header = ''): string {
  const words = header.split(' ').map((word) => /^=\?UTF-8\?B\?([^?]{1,63})\?=$/.exec(word)?.[1]);
  return words.map((word) => Buffer.from(word ?? '', 'base64').toString()).join('');
}

const jsonOf = ({ body }: Posted) => record(JSON.parse(body.toString()));

describe('a reminder', () => {
  test('is set, listed, switched off and deleted; only a url has a secret, once', async () => {
    const user = await thirsty();
    const { made, at } = await remind(user, 'url');
    expect(made).toEqual({
      id: anyId,
      channel: 'url',
      garden: null,
      active: true,
      createdAt: anyInstant,
      lastSentAt: null,
      problem: null,
      secret: expect.stringMatching(/^whsec_/) as string,
    });
    const { secret: _secret, ...shown } = made;
    expect(await listed(user)).toEqual([shown]);
    const off = await user.patch(at, { active: false }).expect(200);
    expect(off.body).toEqual({ ...shown, active: false });
    const { made: push } = await remind(user, 'push');
    expect(push['secret']).toBeNull();
    await user.delete(at).expect(200);
    expect((await listed(user)).map(({ id }) => id)).toEqual([push['id']]);
    expectError(await user.patch(at, { active: true }), 404, 'reminder_not_found');
  });

  test('is not set twice for a device or topic, but switched on again', async () => {
    const user = await thirsty();
    const { made, device, at } = await remind(user, 'push');
    await user.patch(at, { active: false }).expect(200);
    const again = await user.post(PATH, { channel: 'push', subscription: device.subscription });
    expect(again.body).toEqual(made);
    expect(await listed(user)).toHaveLength(1);
  });

  test('that is set again under the same Idempotency-Key is the same, without its secret', async () => {
    const user = await thirsty();
    const { subscription } = new Device(receiver);
    const set = (body: object, key: string) => user.post(PATH, body).set('Idempotency-Key', key);
    const first = await set({ channel: 'push', subscription }, 'push').expect(201);
    const again = await set({ channel: 'push', subscription }, 'push').expect(201);
    expect(again.body).toEqual(first.body);
    const body = { channel: 'url', url: `${receiver.url}/twice` };
    const { id } = bodyOf(await set(body, 'url').expect(201));
    const conflict = await set(body, 'url');
    expectError(conflict, 409, 'idempotency_conflict', new RegExp(String(id)));
  });

  test('on a device that receives none any more makes room for another', async () => {
    const user = await thirsty();
    const gone = await remind(user, 'push');
    for (let index = 1; index < 10; index += 1) await remind(user, 'ntfy');
    const { subscription } = new Device(receiver);
    expectError(
      await user.post(PATH, { channel: 'push', subscription }),
      403,
      'reminder_limit_reached',
    );
    receiver.answer = () => 410;
    await tested(user, gone.at);
    receiver.answer = () => 201;
    const { made } = await remind(user, 'push');
    const ids = (await listed(user)).map(({ id }) => id);
    expect(ids).toHaveLength(10);
    expect(ids).toContain(made['id']);
    expect(ids).not.toContain(gone.made['id']);
    expectError(
      await user.post(PATH, { channel: 'push', subscription }),
      403,
      'reminder_limit_reached',
    );
  });

  test('on a device takes the place of none about another garden', async () => {
    const [owner, user] = [await thirsty(), await thirsty()];
    await letIn(owner, user);
    const { device } = await remind(user, 'push');
    const { subscription } = device;
    await user.post(PATH, { channel: 'push', subscription, garden: owner.id }).expect(201);
    await runAt('2037-01-02T06:59:00Z', '2037-01-02T07:00:00Z');
    const { publicKey } = bodyOf(await user.get(`${PATH}/key`).expect(200));
    const posted = receiver.take(device.path);
    const tags = posted.map(async (each) => {
      const { notification } = record(await device.received(each, String(publicKey)));
      return record(notification)['tag'];
    });
    expect(new Set(await Promise.all(tags)).size).toBe(2);
    expect(new Set(posted.map(({ headers }) => headers['topic'])).size).toBe(2);
  });

  test.each([
    ['over midnight', '2037-01-02T23:50:00Z', '2037-01-03T00:10:00Z', 1],
    ['for eleven hours', '2037-01-02T23:50:00Z', '2037-01-03T10:50:00Z', 1],
    ['longer than one that fails is tried', '2037-01-02T23:50:00Z', '2037-01-03T12:00:00Z', 0],
  ])('comes late if the server was down %s', async (_how, down, up, times) => {
    const user = await thirsty({ remindAt: '23:55' });
    const { take } = await remind(user, 'ntfy');
    await runAt(down, up);
    expect(take()).toHaveLength(times);
    await runAt('2037-01-03T23:54:00Z', '2037-01-03T23:56:00Z', '2037-01-04T00:01:00Z');
    expect(take()).toHaveLength(1);
  });

  test('is refused beyond the tenth', async () => {
    const user = await thirsty();
    for (let n = 0; n < 10; n += 1) await remind(user, 'ntfy');
    const eleventh = { channel: 'ntfy', url: `${receiver.url}/eleventh` };
    expectError(await user.post(PATH, eleventh), 403, 'reminder_limit_reached', /\b10\b/);
  });

  test.each([
    ['no url', { channel: 'url' }, 'url'],
    ['a url of another channel', { channel: 'email', url: 'https://example.com' }, 'url'],
    ['no subscription', { channel: 'push' }, 'subscription'],
    ['another scheme', { channel: 'ntfy', url: 'ftp://example.com/x' }, 'url'],
    ['a line break', { channel: 'ntfy', url: 'https://example.com/\r\nX-Evil: 1' }, 'url'],
    ['a password', { channel: 'url', url: 'https://ada:secret@example.com' }, 'url'],
    ['an unknown channel', { channel: 'pigeon' }, 'channel'],
    [
      'events of a topic',
      { channel: 'ntfy', url: 'https://a.example.com', events: ['care.due'] },
      'events',
    ],
    ['no events', { channel: 'url', url: 'https://a.example.com', events: [] }, 'events'],
    [
      'an event of a backend',
      { channel: 'url', url: 'https://a.example.com', events: ['plant.created'] },
      'events',
    ],
  ])('is refused with %s', async (_case, body, field) => {
    const user = await thirsty();
    expect(faultsOf(await user.post(PATH, body).expect(400))).toEqual([field]);
  });

  test.each([
    ['p256dh', { p256dh: 'AAAA' }],
    ['p256dh', { p256dh: Buffer.alloc(65, 4).toString('base64url') }],
    ['p256dh', { p256dh: Buffer.alloc(33, 2).toString('base64url') }],
    ['p256dh', { p256dh: '\r\n' }],
    ['auth', { auth: Buffer.alloc(15).toString('base64url') }],
    ['auth', { auth: Buffer.alloc(17).toString('base64url') }],
  ])('is refused with a bad %s: %o', async (key, bad) => {
    const user = await thirsty();
    const { subscription } = new Device(receiver);
    const keys = { ...subscription.keys, ...bad };
    const body = { channel: 'push', subscription: { ...subscription, keys } };
    expect(fieldOf(await user.post(PATH, body))).toBe(`subscription.keys.${key}`);
  });

  test('is refused at a private address, and without https', async () => {
    const other = await startService();
    try {
      const user = await other.user();
      const { keys } = new Device(receiver).subscription;
      for (const endpoint of [receiver.url, 'https://127.0.0.1/push', 'https://[fd00::1]/push']) {
        const push = { channel: 'push', subscription: { endpoint, keys } };
        expect(fieldOf(await user.post(PATH, push))).toBe('subscription.endpoint');
        const url = { channel: 'url', url: endpoint };
        expect(faultsOf(await user.post(PATH, url).expect(400))).toEqual(['url']);
      }
    } finally {
      await other.close();
    }
  });

  test('by e-mail is refused without a mail server', async () => {
    const user = await thirsty();
    expectError(await user.post(PATH, { channel: 'email' }), 400, 'email_not_available');
  });

  test('of another person is not found', async () => {
    const { at } = await remind(await thirsty(), 'url');
    const other = await thirsty();
    expectError(await other.patch(at, { active: false }), 404, 'reminder_not_found');
    expectError(await other.post(`${at}/test`), 404, 'reminder_not_found');
    expectError(await other.delete(at), 404, 'reminder_not_found');
  });
});

describe('what is sent', () => {
  test('comes to each channel once a day, if anything is due', async () => {
    const user = await thirsty({}, ['Fern', 'Basil']);
    const content = await service.user({ expiresInSeconds: 360 * 24 * 3600 });
    await content.plant({ name: 'Cactus' });
    const nothing = await remind(content, 'url');
    const [url, push, ntfy] = [
      await remind(user, 'url'),
      await remind(user, 'push'),
      await remind(user, 'ntfy'),
    ];
    await runAt('2037-01-02T06:59:00Z');
    for (const each of [url, push, ntfy]) expect(each.take()).toEqual([]);
    await runAt('2037-01-02T07:00:05Z', '2037-01-02T07:00:10Z', '2037-01-02T09:00:00Z');

    setClock('2037-01-02T07:00:10Z');
    const [event, ...more] = url.take();
    expect(more).toEqual([]);
    if (!event) throw new Error('Nothing was sent to the url.');
    new Webhook(String(url.made['secret'])).verify(event.body.toString(), event.headers);
    expect(jsonOf(event)).toEqual({
      type: 'care.due',
      timestamp: '2037-01-02T07:00:05.000Z',
      data: {
        userId: user.id,
        today: '2037-01-02',
        count: 2,
        items: [
          expect.objectContaining({ plantName: 'Fern', dueOn: '2037-01-01', type: 'watered' }),
          expect.objectContaining({ plantName: 'Basil' }),
        ],
      },
    });

    const { publicKey } = bodyOf(await user.get(`${PATH}/key`).expect(200));
    const pushed = push.take();
    expect(pushed).toHaveLength(1);
    const link = expect.stringMatching(/^http.*\/garden$/) as string;
    expect(await push.device.received(pushed[0] as Posted, String(publicKey))).toEqual({
      web_push: 8030,
      notification: {
        title: '2 plants need care',
        body: 'Fern and Basil',
        lang: 'en',
        navigate: link,
        tag: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      },
    });

    const topic = ntfy.take();
    expect(topic.map(({ body }) => body.toString())).toEqual(['Fern and Basil']);
    expect(topic[0]?.headers).toMatchObject({
      title: '2 plants need care',
      tags: 'seedling',
      click: link,
    });

    expect(nothing.take()).toEqual([]);
    const seen = (await listed(user)).map(({ lastSentAt, problem }) => ({ lastSentAt, problem }));
    expect(seen).toEqual(Array(3).fill({ lastSentAt: '2037-01-02T07:00:05.000Z', problem: null }));
    await runAt('2037-01-03T07:00:00Z');
    expect(url.take()).toHaveLength(1);
  });

  test('names the first plants, in the language of the person, and stays short', async () => {
    const long = '🌿"\\\n'.repeat(20);
    const user = await thirsty({ language: 'fr' }, ['Fougère', 'Basilic', long, long, 'E', 'F']);
    const [push, ntfy] = [await remind(user, 'push'), await remind(user, 'ntfy')];
    await runAt('2037-01-02T06:59:00Z', '2037-01-02T07:00:00Z');
    const { publicKey } = bodyOf(await user.get(`${PATH}/key`).expect(200));
    const [pushed] = push.take();
    const { notification } = await push.device.received(pushed as Posted, String(publicKey));
    const text = String(record(notification)['body']);
    expect(text).toMatch(/^Fougère, Basilic, .* et 2 autres$/);
    expect(text).not.toContain('\n');
    expect(record(notification)['title']).toBe('6 plantes ont besoin de soins');
    expect(ntfy.take()[0]?.body.toString()).toBe(text);
  });

  test('is nothing once the care is done, or while remindAt is null or the reminder is off', async () => {
    const [done, never, off] = [
      await thirsty(),
      await thirsty({ remindAt: null }),
      await thirsty(),
    ];
    const all = [await remind(done, 'url'), await remind(never, 'url'), await remind(off, 'url')];
    await off.patch(all[2]?.at ?? '', { active: false }).expect(200);
    await runAt('2037-01-02T06:59:00Z');
    setClock('2037-01-02T07:00:00Z');
    await service.runJob('reminders');
    const { items } = bodyOf(await done.get('/api/care').expect(200));
    const { plantId } = record(records(items)[0]);
    await done.post('/api/care/done', { plantId, type: 'watered' }).expect(201);
    await service.runJob('webhook delivery');
    for (const each of all) expect(each.take()).toEqual([]);
  });

  test.each([
    ['a skipped time', 'Europe/Oslo', '02:30', '2037-03-29T00:59:00Z', '2037-03-29T01:00:00Z'],
    ['a repeated time', 'Europe/Oslo', '02:30', '2037-10-25T00:29:00Z', '2037-10-25T00:30:00Z'],
    ['three quarters', 'Asia/Kathmandu', '07:00', '2037-03-02T01:14:00Z', '2037-03-02T01:15:00Z'],
    ['midnight', 'America/Lima', '00:00', '2037-04-23T04:59:00Z', '2037-04-23T05:00:00Z'],
  ])('comes once on a day: %s', async (_case, timezone, remindAt, before, at) => {
    const { take } = await remind(await thirsty({ timezone, remindAt }), 'url');
    await runAt(before);
    expect(take()).toEqual([]);
    await runAt(at);
    expect(take()).toHaveLength(1);
    for (const minutes of [1, 30, 60, 61]) {
      await runAt(new Date(Date.parse(at) + minutes * 60_000).toISOString());
    }
    expect(take()).toEqual([]);
  });

  test('comes at the new time after a change of zone or time', async () => {
    const user = await thirsty();
    const { take } = await remind(user, 'url');
    await user.patch('/api/account', { timezone: 'Asia/Tokyo', remindAt: '21:15' }).expect(200);
    await runAt('2037-01-02T07:00:00Z', '2037-01-02T12:14:00Z');
    expect(take()).toEqual([]);
    await runAt('2037-01-02T12:15:00Z');
    expect(take()).toHaveLength(1);
  });

  test('is about a shared garden until the membership ends', async () => {
    const owner = await thirsty({ gardenName: 'Jardin d’\nété' });
    const person = await thirsty({ timezone: 'Asia/Tokyo', language: 'fr' }, []);
    expectError(
      await person.post(PATH, { channel: 'url', url: receiver.url, garden: owner.id }),
      404,
      'garden_not_found',
    );
    const member = await letIn(owner, person);
    const about = { garden: owner.id };
    const [url, ntfy] = [await remind(person, 'url', about), await remind(person, 'ntfy', about)];
    expect(url.made['garden']).toBe(owner.id);
    await runAt('2037-01-01T21:59:00Z', '2037-01-01T22:00:00Z');
    expect(record(jsonOf(url.take()[0] as Posted)['data'])).toMatchObject({
      userId: owner.id,
      count: 1,
    });
    expect(decoded(ntfy.take()[0]?.headers['title'])).toBe(
      'Jardin d’ été : Une plante a besoin de soins',
    );
    await owner.delete(`/api/account/members/${member}`).expect(200);
    expect(await listed(person)).toEqual([]);
    await runAt('2037-01-02T22:00:00Z');
    expect([...url.take(), ...ntfy.take()]).toEqual([]);
  });

  test('ends with the time of a membership', async () => {
    const [owner, person] = [await thirsty(), await thirsty({}, [])];
    await letIn(owner, person, { until: '2037-01-02T00:00:00Z' });
    const { take } = await remind(person, 'url', { garden: owner.id });
    await runAt('2037-01-02T06:59:00Z', '2037-01-02T07:00:00Z');
    expect(take()).toEqual([]);
    expect(await listed(person)).toEqual([]);
  });
});

describe('a receiver', () => {
  test('that fails is tried again for 12 hours, and the reminder says why', async () => {
    const user = await thirsty();
    const { path, take, at } = await remind(user, 'url');
    receiver.answer = () => 500;
    await runAt('2037-01-02T06:59:00Z', '2037-01-02T07:00:00Z', '2037-01-02T07:00:05Z');
    const tried = take();
    expect(new Set(tried.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(tried).toHaveLength(2);
    expect(await listed(user)).toMatchObject([
      { active: true, lastSentAt: null, problem: 'The response status was 500.' },
    ]);
    await runAt('2037-01-02T18:59:00Z');
    expect(take()).toHaveLength(1);
    receiver.answer = () => 204;
    await runAt('2037-01-02T19:59:59Z');
    expect(receiver.take(path)).toEqual([]);
    expect(await tested(user, at)).toEqual({ sent: true, problem: null });
    expect(await listed(user)).toMatchObject([{ problem: null, lastSentAt: anyInstant }]);
  });

  test('that fails for 72 hours is sent no more until the person switches it on', async () => {
    const user = await thirsty();
    const { take, at } = await remind(user, 'ntfy');
    receiver.answer = () => 503;
    await runAt('2037-01-02T06:59:00Z', '2037-01-02T07:00:00Z', '2037-01-03T07:00:00Z');
    await runAt('2037-01-04T07:00:00Z');
    expect(await listed(user)).toMatchObject([{ active: true }]);
    await runAt('2037-01-05T07:00:00Z');
    expect(await listed(user)).toMatchObject([
      { active: false, problem: expect.stringMatching(/3 days.*switched off.*503/) as string },
    ]);
    take();
    await runAt('2037-01-06T07:00:00Z');
    expect(take()).toEqual([]);
    await user.patch(at, { active: true }).expect(200);
    expect(await listed(user)).toMatchObject([{ active: true, problem: null }]);
    receiver.answer = () => 200;
    await runAt('2037-01-07T07:00:00Z');
    expect(take()).toHaveLength(1);
  });

  test.each([
    ['push', 404],
    ['push', 410],
    ['url', 410],
    ['ntfy', 410],
  ] as const)('of %s that is gone (%i) is sent no more', async (channel, status) => {
    const user = await thirsty();
    const { take } = await remind(user, channel);
    receiver.answer = () => status;
    await runAt('2037-01-02T06:59:00Z', '2037-01-02T07:00:00Z', '2037-01-02T07:30:00Z');
    expect(take()).toHaveLength(1);
    expect(await listed(user)).toMatchObject([
      { active: false, problem: expect.stringMatching(/switched off/) as string },
    ]);
  });

  test('that answers without end is read no further', async () => {
    const user = await thirsty();
    const { at } = await remind(user, 'url');
    receiver.answer = () => 'endless';
    expect(await tested(user, at)).toEqual({ sent: true, problem: null });
  });

  test('that never answers fails within 10 seconds, and once for each Idempotency-Key', async () => {
    const user = await thirsty();
    const { at, take } = await remind(user, 'url');
    receiver.answer = () => 'never';
    const problem = 'There was no response within 10 seconds.';
    expect(await tested(user, at)).toEqual({ sent: false, problem });
    expect(await tested(user, at)).toEqual({ sent: false, problem });
    expect(take()).toHaveLength(1);
  });
});

test('a url that asks for account.changed is told of changes of its garden alone', async () => {
  const [owner, person] = [await thirsty(), await thirsty({}, [])];
  await letIn(owner, person);
  const events = ['account.changed'];
  const own = await remind(person, 'url', { events });
  const shared = await remind(person, 'url', { events, garden: owner.id });
  const both = await remind(owner, 'url', { events: ['care.due', 'account.changed'] });
  expect(bodyOf(await person.get('/api/account').expect(200))['reminders']).toBe(0);
  expect(bodyOf(await owner.get('/api/account').expect(200))['reminders']).toBe(1);
  const stopping = new AbortController();
  const reading = service.runJob('webhook account changes', stopping.signal);
  await owner.plant({ name: 'Basil' });
  const revision = async () =>
    Number((await collection('accounts').findOne({ _id: owner.id as never }))?.['revision']);
  const told = () => receiver.posted.filter(({ path }) => path === shared.path);
  for (let moment = Date.now(); ; moment += 5000) {
    setClock(moment);
    await service.runJob('webhook delivery');
    const last = told().at(-1);
    if (last && record(jsonOf(last)['data'])['revision'] === (await revision())) break;
  }
  stopping.abort();
  await reading;
  const [event] = shared.take().slice(-1);
  new Webhook(String(shared.made['secret'])).verify(
    event?.body.toString() ?? '',
    event?.headers ?? {},
  );
  expect(event && jsonOf(event)).toMatchObject({
    type: 'account.changed',
    data: { userId: owner.id, revision: await revision() },
  });
  expect(both.take().length).toBeGreaterThan(0);
  const ids = own.take().map((each) => record(jsonOf(each)['data'])['userId']);
  expect(ids.filter((id) => id !== person.id)).toEqual([]);
  await runAt('2037-01-02T06:59:00Z', '2037-01-02T07:00:00Z');
  expect(shared.take()).toEqual([]);
  expect(both.take().map((each) => jsonOf(each)['type'])).toEqual(['care.due']);
});

test('care that is due does not wait for the changes that the same url is told of', async () => {
  const user = await thirsty();
  setClock('2037-01-01T01:00:00Z');
  const { path, take } = await remind(user, 'url', { events: ['care.due', 'account.changed'] });
  const stopping = new AbortController();
  const reading = service.runJob('webhook account changes', stopping.signal);
  const change = { userId: user.id, type: 'account.changed' };
  const changes = (status: string) =>
    collection('deliveries').countDocuments({ ...change, status });
  await runAt('2037-01-02T06:59:59Z');
  await user.plant();
  await until(async () => {
    await service.runJob('webhook delivery');
    return (await changes('delivered')) > 0;
  });
  await user.plant();
  await until(async () => (await changes('waiting')) > 0);
  receiver.take(path);
  await runAt('2037-01-02T07:00:00Z');
  stopping.abort();
  await reading;
  expect(take().map((each) => jsonOf(each)['type'])).toEqual(['care.due']);
});

test('a zone with one person does not wait for a large one', async () => {
  const many = await thirsty();
  const first = await remind(many, 'url');
  const template = await collection('reminders').findOne({ userId: many.id });
  await copy('reminders', { ...template, userId: 'nobody' }, 500);
  const alone = await remind(
    await thirsty({ timezone: 'Africa/Abidjan', remindAt: '07:01' }),
    'url',
  );
  const begun = () => collection('deliveries').countDocuments({ userId: 'nobody' });
  const run = async (moment: string) => {
    setClock(moment);
    await service.runJob('reminders');
  };
  await run('2037-01-02T06:59:58Z');
  await run('2037-01-02T07:00:00Z');
  expect(await begun()).toBeLessThan(100);
  await run('2037-01-02T07:01:00Z');
  expect(await begun()).toBeLessThan(501);
  await service.runJob('webhook delivery');
  expect([first.take(), alone.take()].map(({ length }) => length)).toEqual([1, 1]);
  for (let second = 5; (await begun()) < 500 && second < 60; second += 5) {
    await run(`2037-01-02T07:01:${String(second).padStart(2, '0')}Z`);
  }
  expect(await begun()).toBe(500);
  await run('2037-01-02T07:05:00Z');
  expect(await begun()).toBe(500);
});

test('a channel whose receivers are down delays no other', async () => {
  const [urls, topics] = [await thirsty(), await thirsty()];
  await remind(urls, 'url');
  await remind(topics, 'ntfy');
  const stored = await collection('reminders').findOne({ userId: topics.id });
  await copy('reminders', { ...stored, userId: 'many' }, 60);
  const run = async (moment: string) => {
    setClock(moment);
    await service.runJob('reminders');
  };
  await run('2037-01-02T06:59:58Z');
  await run('2037-01-02T07:00:00Z');
  const stuck = await collection('deliveries').findOne({ userId: urls.id });
  await copy('deliveries', { ...stuck, userId: 'down' }, 1000);
  await run('2037-01-02T07:00:05Z');
  expect(await collection('deliveries').countDocuments({ userId: 'many' })).toBe(60);
  await collection('deliveries').deleteMany({ userId: { $in: ['many', 'down'] } });
});

test('the key for push is made once, or that of VAPID_PRIVATE_KEY', async () => {
  const [ada, ben] = [await thirsty(), await thirsty()];
  const keyOf = async (user: TestUser) => bodyOf(await user.get(`${PATH}/key`).expect(200));
  expect(await keyOf(ada)).toEqual(await keyOf(ben));
  expect(await collection('pushKeys').countDocuments()).toBe(1);
  // RFC 8291, section 5.
  const VAPID_PRIVATE_KEY = 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw';
  const publicKey =
    'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8';
  const other = await startService({ jobs: false, env: { VAPID_PRIVATE_KEY } });
  try {
    expect(await keyOf(await other.user())).toEqual({ publicKey });
  } finally {
    await other.close();
  }
  const bad = startService({ jobs: false, env: { VAPID_PRIVATE_KEY: publicKey } });
  await expect(bad).rejects.toThrow(/VAPID_PRIVATE_KEY must be a private key/);
});

test('an export has the reminders without their secrets; they are deleted with the account', async () => {
  const user = await thirsty();
  const { made, path } = await remind(user, 'url');
  const text = (await user.get('/api/account/export').expect(200)).text;
  expect(text).toContain(path);
  expect(text).not.toContain(String(made['secret']));
  await user.delete('/api/account').send({ confirm: user.id }).expect(200);
  expect(await collection('reminders').countDocuments({ userId: user.id })).toBe(0);
});
