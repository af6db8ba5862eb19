import { SignInAgain, TryLater } from '../../../examples/offline-client/api';
import { dueCare } from '../../../examples/offline-client/due';
import type { Tokens } from '../../../examples/offline-client/types';
import type { CareItem } from '../../../plugins/care/schema';
import { person } from '../../../plugins/oauth/test/support/people';
import { Phone } from '../../../plugins/oauth/test/support/phone';
import { Client } from '../../support/client';
import { resetClock, setClock } from '../../support/clock';
import { listed } from '../../support/copy';
import { ALL_FATES, HostileNetwork } from '../../support/hostile-network';
import { startService } from '../../support/program';
import type { TestService, TestUser } from '../../support/service';
import { Device } from './device';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-03-20T08:00:00Z');
const ZONES = ['Europe/Paris', 'America/New_York', 'Asia/Tokyo'];
/** Why a change may be shown as a problem: both devices edit, archive and put off the same, and are offline for long. */
const CONFLICTS = ['precondition_failed', 'plant_archived', 'validation_error', 'unknown'];

let service: TestService;
let user: TestUser;
let networks: HostileNetwork[];
let devices: Device[];
let random: () => number;
let signIn: () => Promise<string>;

beforeEach(async () => {
  setClock(START);
  random = numbers(20_260_320);
  service = await startService();
  const ada = await person(service);
  user = await service.user({ id: ada.name, expiresInSeconds: 90 * 86_400 });
  networks = [await HostileNetwork.before(service.url), await HostileNetwork.before(service.url)];
  const scope = 'plants:read plants:write events:write offline_access';
  signIn = async () => {
    const phone = await Phone.register(service, ada);
    return JSON.stringify({ client_id: phone.clientId, ...(await phone.tokens({ scope })) });
  };
  devices = [];
  for (const network of networks) {
    network.onRequest = () => (random() < 0.15 ? pick(ALL_FATES) : undefined);
    devices.push(new Device(network.url, JSON.parse(await signIn()) as Tokens));
  }
});
afterEach(async () => {
  resetClock();
  await Promise.all(networks.map((network) => network.close()));
  await service.close();
});

/** Numbers from 0 to 1 that look random, the same in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function pick<T>(items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('There is none.');
  return item;
}

/** A person does something on a device, which may be offline. Returns the text of an event that they wrote. */
function act({ client }: Device, text: string): string[] {
  const { copy, account } = client.state;
  const plants = Object.values(copy.plants).filter(({ archivedAt }) => !archivedAt);
  const occurredAt = new Date().toISOString();
  const kind = random();
  if (plants.length < 3 || kind < 0.15) {
    const wateringFrequencyDays = 1 + Math.floor(random() * 9);
    const key = client.enqueue('POST', '/api/plants', { name: text, wateringFrequencyDays });
    client.enqueue('POST', `/api/plants/${key}/events`, { type: 'note', text, occurredAt });
    client.edit('plants', key, { location: text });
    return [text];
  }
  const { id } = pick(plants);
  const due = dueCare(copy, account?.timezone ?? 'UTC').filter(({ plantId }) => plantId === id);
  if (kind < 0.4) {
    client.enqueue('POST', `/api/plants/${id}/events`, { type: 'watered', text, occurredAt });
    return [text];
  }
  if (kind < 0.6) client.edit('plants', id, { [pick(['notes', 'location'])]: text });
  else if (kind < 0.7 && due[0]) client.decide('skip', due[0]);
  else if (kind < 0.8 && due[0]) {
    const until = new Date(Date.now() + 3 * DAY_MS).toISOString().slice(0, 10);
    client.decide('snooze', due[0], { until });
  } else if (kind < 0.85) {
    const rule = pick([{ everyDays: 3 }, { weekdays: ['mon', 'fri'] }]);
    client.enqueue('POST', `/api/plants/${id}/schedules`, { care: 'fertilized', ...rule });
  } else if (kind < 0.9) {
    client.enqueue('POST', `/api/plants/${id}/archive`, { reason: 'given_away' });
  } else client.enqueue('PATCH', '/api/account', { timezone: pick(ZONES) });
  return [];
}

/** Returns whether it got all responses. A refresh whose response was lost half a day ago ends the grant. */
async function syncOnce(device: Device): Promise<boolean> {
  try {
    await device.client.sync();
    return true;
  } catch (error) {
    if (error instanceof TryLater) return false;
    if (!(error instanceof SignInAgain)) throw error;
    device.keychain.save(await signIn());
    device.restart();
    return false;
  }
}

test('two devices on a hostile network end a month equal to the service, and nothing is lost or doubled', async () => {
  const written: string[] = [];
  for (let day = 0; day < 30; day += 3) {
    for (const [index, device] of devices.entries()) {
      setClock(START + (day + index) * DAY_MS);
      for (let acts = 0; acts < 4; acts += 1) {
        written.push(...act(device, `${day}.${acts} of ${index}`));
      }
      if (random() < 0.3) device.restart();
      // Some days it is offline, or its person has little patience.
      for (let tries = 5; random() < 0.7 && tries > 0; tries -= 1) {
        if (await syncOnce(device)) break;
      }
    }
  }
  for (const device of [...devices, ...devices]) while (!(await syncOnce(device)));

  const direct = new Client(service.url, user.token);
  const lists = await listed(direct, []);
  const { items } = (await user.get('/api/care?dueBy=9999-12-31').expect(200)).body as {
    items: CareItem[];
  };
  direct.close();
  const dueDays = items.map(({ plantId, care, dueOn }) => `${plantId} ${care} ${dueOn}`).sort();
  const refused: unknown[] = [];
  const saved = new Set(lists.events.map(({ text }) => text));
  for (const { client } of devices) {
    const { queue, problems, copy, account } = client.state;
    expect(queue).toEqual([]);
    expect(
      [...new Set(problems.map(({ code }) => code))].filter((code) => !CONFLICTS.includes(code)),
    ).toEqual([]);
    for (const { code, changes } of problems) {
      const texts = changes.map(({ body }) => body?.['text']);
      // What was sent a week ago without a response may have been saved.
      refused.push(...(code === 'unknown' ? texts.filter((text) => !saved.has(text)) : texts));
    }
    for (const kind of ['plants', 'events', 'schedules'] as const) {
      expect(sorted(copy[kind])).toEqual(lists[kind]);
    }
    const due = dueCare(copy, account?.timezone ?? '');
    expect(due.map(({ plantId, care, dueOn }) => `${plantId} ${care} ${dueOn}`).sort()).toEqual(
      dueDays,
    );
  }
  expect(lists.plants.length).toBeGreaterThan(5);
  const texts = [...lists.events.map(({ text }) => text), ...refused];
  // Done care has none.
  expect(texts.filter((text) => written.includes(String(text))).sort()).toEqual(written.sort());
});

function sorted(items: Readonly<Record<string, unknown>>): unknown[] {
  return Object.entries(items)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item);
}
