import { GardenGone, TryLater } from '../../../examples/offline-client/api';
import { pressIn } from '../../../plugins/garden/test/gardener';
import { DAY_MS } from '../../../src/core/time';
import { tool } from '../../mcp/support';
import { Client, record, records } from '../../support/client';
import { resetClock, setClock } from '../../support/clock';
import { listed } from '../../support/copy';
import { ALL_FATES, HostileNetwork } from '../../support/hostile-network';
import { startService, userOf } from '../../support/program';
import type { TestService, TestUser } from '../../support/service';
import { bodyOf } from '../../support/shapes';
import { letIn } from '../../support/sharing';
import { Browser } from '../../support/signed-in';
import { Device } from './device';
import { Life, sorted } from './life';

const START = Date.parse('2026-03-20T08:00:00Z');
const LONG = { expiresInSeconds: 90 * 86_400 };
const KINDS = ['plants', 'events', 'schedules'] as const;

let services: TestService[];
let networks: HostileNetwork[];
let life: Life;
let [ada, ben, cleo]: TestUser[] = [];

beforeEach(async () => {
  setClock(START);
  life = new Life(20_260_401);
  const first = await startService();
  const second = await startService({ mongodbUri: first.mongodbUri });
  services = [first, second];
  networks = await Promise.all(services.map(({ url }) => HostileNetwork.before(url)));
  for (const network of networks) {
    network.onRequest = () => (life.chance(0.15) ? life.pick(ALL_FATES) : undefined);
  }
  [ada, ben, cleo] = [await first.user(LONG), await first.user(LONG), await first.user(LONG)];
});
afterEach(async () => {
  resetClock();
  await Promise.all(networks.map((network) => network.close()));
  for (const service of services.toReversed()) await service.close();
});

/** Synchronizes a device on a bad network, perhaps in vain. */
async function trySync({ client }: Device): Promise<void> {
  await client.sync().catch((error: unknown) => {
    if (!(error instanceof TryLater)) throw error;
  });
}

/** The copies of the devices are equal to the lists of the garden. */
async function expectEqual(owner: TestUser, devices: readonly Device[]) {
  const direct = new Client(services[0]?.url ?? '', owner.token);
  const lists = await listed(direct, []);
  direct.close();
  for (const { client } of devices) {
    expect(client.state.queue).toEqual([]);
    for (const kind of KINDS) expect(sorted(client.state.copy[kind])).toEqual(lists[kind]);
  }
  return lists;
}

test('the copies of an owner, a gardener and a viewer who write at once equal the lists', async () => {
  const [owner, gardener, viewer] = [ada, ben, cleo] as [TestUser, TestUser, TestUser];
  await letIn(owner, gardener, { name: 'Ben', role: 'gardener' });
  await letIn(owner, viewer, { name: 'Cleo', role: 'viewer' });
  const [one = '', other = ''] = networks.map(({ url }) => url);
  const devices = [
    new Device(one, owner.token),
    new Device(other, gardener.token, owner.id),
    new Device(one, gardener.token, owner.id),
    new Device(other, viewer.token, owner.id),
  ];
  const writers = devices.slice(0, -1);
  for (let round = 0; round < 4; round += 1) {
    setClock(START + round * DAY_MS);
    for (const [index, device] of writers.entries()) {
      for (let acts = 0; acts < 5; acts += 1) {
        life.act(device, `${round}.${acts} of ${index}`, { moves: false });
      }
    }
    await Promise.all(devices.map(trySync));
  }
  for (const _ of ['send', 'read']) {
    await Promise.all(devices.map((device) => device.syncThrough()));
  }
  const { events } = await expectEqual(owner, devices);
  const names = records(events).map(({ text, by }) => [String(text), by && record(by)['name']]);
  const written = names.filter(([text]) => / of \d$/.test(String(text)));
  expect(written.length).toBeGreaterThan(10);
  for (const [text, by] of written) {
    expect([text, by]).toEqual([text, String(text).endsWith('of 0') ? undefined : 'Ben']);
  }
  const [, , , last] = devices;
  last?.client.enqueue('POST', '/api/plants', { name: 'Ivy' });
  await last?.syncThrough();
  expect(last?.client.state.problems).toMatchObject([{ code: 'insufficient_scope' }]);
});

test('a household keeps a garden for a month: every copy equals the lists, every entry says who did it, and nothing opens after the end', async () => {
  const [owner, gardener, carer] = [ada, ben, cleo] as [TestUser, TestUser, TestUser];
  const [one = '', other = ''] = networks.map(({ url }) => url);
  const member = await letIn(owner, gardener, { name: 'Ben', role: 'gardener' });
  await letIn(owner, carer, { name: 'Cleo', role: 'carer' });
  const wanted = { name: 'Assistant', scopes: ['plants:read', 'events:write'], garden: owner.id };
  const { token } = bodyOf(await carer.post('/api/account/tokens', wanted).expect(201));
  const { url } = services[1] as TestService;
  const assistant = { url, token: String(token), user: userOf(url, carer.id, String(token)) };
  const phones = [new Device(one, owner.token), new Device(other, gardener.token, owner.id)];
  const sitter = new Browser(url);
  let link = '';
  for (let day = 0; day < 30; day += 3) {
    setClock(START + day * DAY_MS);
    for (const [index, device] of phones.entries()) {
      for (let acts = 0; acts < 4; acts += 1) {
        life.act(device, `${day}.${acts} of ${index}`, { moves: false });
      }
      if (life.chance(0.3)) device.restart();
    }
    await Promise.all(phones.map(trySync));
    const { items } = record(await tool(assistant, 'list_plants', { limit: 1 }));
    const id = records(items)[0]?.['id'];
    await tool(assistant, 'create_event', { id, type: 'watered', text: `${day} of 2` });
    if (day === 9) {
      const until = new Date(Date.now() + 7 * DAY_MS);
      const asked = { name: 'Dora', role: 'carer', until, link: true };
      const { link: made } = bodyOf(await owner.post('/api/account/members', asked).expect(201));
      link = new URL(String(record(made)['url'])).pathname;
    }
    if (day >= 9 && day <= 15) {
      const page = await sitter.go(link);
      if (page.text.includes('value="done"')) await pressIn(sitter, page, 'done');
    }
  }
  expect((await sitter.go(link)).status).toBe(404);

  const [own, others] = phones as [Device, Device];
  for (const _ of ['send', 'read']) {
    await Promise.all(phones.map((device) => device.syncThrough()));
  }
  const { events } = await expectEqual(owner, phones);
  const who = new Map<unknown, unknown[]>();
  for (const { text, by } of records(events)) {
    const name = by === undefined ? 'Ada' : record(by)['name'];
    const key = / of (\d)$/.exec(String(text))?.[1] ?? 'no text';
    who.set(key, [...new Set([...(who.get(key) ?? []), name])]);
  }
  expect(who.get('0')).toEqual(['Ada']);
  expect(who.get('1')).toEqual(['Ben']);
  expect(who.get('2')).toEqual(['Cleo']);
  expect(who.get('no text')).toContain('Dora');

  life.act(others, 'late of 1', { moves: false });
  const queued = others.client.state.queue.length;
  await owner.delete(`/api/account/members/${member}`).expect(200);
  await expect(others.syncThrough()).rejects.toThrow(GardenGone);
  const { copy, queue, problems } = others.client.state;
  expect([copy.plants, copy.events, queue]).toEqual([{}, {}, []]);
  const left = problems.filter(({ code }) => code === 'garden_not_found');
  expect(left.flatMap(({ changes }) => changes)).toHaveLength(queued);
  await own.syncThrough();
  await expectEqual(owner, [own]);
});
