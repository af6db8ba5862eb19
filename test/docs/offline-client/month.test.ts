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
import { Life, sorted } from './life';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-03-20T08:00:00Z');
/** Why a change may be shown as a problem: both devices edit, archive and put off the same, and are offline for long. */
const CONFLICTS = ['precondition_failed', 'plant_archived', 'validation_error', 'unknown'];

let service: TestService;
let user: TestUser;
let networks: HostileNetwork[];
let devices: Device[];
let life: Life;
let signIn: () => Promise<string>;

beforeEach(async () => {
  setClock(START);
  life = new Life(20_260_320);
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
    network.onRequest = () => (life.chance(0.15) ? life.pick(ALL_FATES) : undefined);
    devices.push(new Device(network.url, JSON.parse(await signIn()) as Tokens));
  }
});
afterEach(async () => {
  resetClock();
  await Promise.all(networks.map((network) => network.close()));
  await service.close();
});

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
        written.push(...life.act(device, `${day}.${acts} of ${index}`));
      }
      if (life.chance(0.3)) device.restart();
      // Some days it is offline, or its person has little patience.
      for (let tries = 5; life.chance(0.7) && tries > 0; tries -= 1) {
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
