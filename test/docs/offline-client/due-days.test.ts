import fc from 'fast-check';

import { dueCare } from '../../../examples/offline-client/due';
import { someRule } from '../../../plugins/care/test/plain-days';
import type { CareItem } from '../../../plugins/care/schema';
import { resetClock, setClock } from '../../support/clock';
import { startService } from '../../support/program';
import type { TestService, TestUser } from '../../support/service';
import { bodyOf } from '../../support/shapes';
import { Device } from './device';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Late in the evening of the day in UTC: the zones have three days at once. */
const START = Date.parse('2027-02-26T10:30:00Z');
const ZONES = ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kathmandu', 'Europe/Paris'];
const CARES = ['watered', 'fertilized', 'repotted', 'other'];
const RULES = fc.sample(someRule, { numRuns: 40, seed: 7 });

let service: TestService;
let user: TestUser;
let device: Device;
let now: number;
beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  pass(0, START);
  user = await service.user({ expiresInSeconds: 4 * 365 * 86_400 });
  device = new Device(service.url, user.token);
});
afterEach(resetClock);
afterAll(() => service.close());

function pass(days: number, since = now): void {
  now = since + days * DAY_MS;
  setClock(now);
}

/** Moves to each zone; in each the days of the copy must be those of the service. */
async function agree(): Promise<number> {
  let items = 0;
  for (const timezone of ZONES) {
    await user.patch('/api/account', { timezone }).expect(200);
    await device.client.sync();
    const { copy, account } = device.client.state;
    const answer = await user.get('/api/care?dueBy=9999-12-31').expect(200);
    const listed = (answer.body as { items: CareItem[] }).items.map(
      ({ plantId, scheduleId, care, label, dueOn }) => ({
        plantId,
        scheduleId,
        care,
        label,
        dueOn,
      }),
    );
    expect(sorted(dueCare(copy, account?.timezone ?? ''))).toEqual(sorted(listed));
    items += listed.length;
  }
  return items;
}

function sorted(items: readonly object[]): string[] {
  return items.map((item) => JSON.stringify(item)).sort();
}

interface Need {
  plantId: string;
  scheduleId?: string;
  type: string;
}

/** Plants of all kinds of rules. */
async function plants(): Promise<Need[]> {
  const needs: Need[] = [];
  for (const [index, rule] of RULES.entries()) {
    pass(1 / 24);
    const care = CARES[index % CARES.length] ?? '';
    const { id: plantId } = await user.plant({
      ...(index % 3 > 0 && { wateringFrequencyDays: 1 + index }),
      ...(index % 3 > 1 && { fertilizerFrequencyDays: 30 }),
    });
    if (index % 3 > 0) needs.push({ plantId, type: 'watered' });
    const label = care === 'other' ? { label: 'Mist' } : {};
    const given = Object.entries(rule).filter(([, value]) => value !== null);
    const body = { ...Object.fromEntries(given), care, ...label, active: index % 11 > 0 };
    const made = await user.post(`/api/plants/${plantId}/schedules`, body);
    if (made.status !== 201) continue; // It leaves no day.
    const type = care === 'other' ? 'note' : care;
    needs.push({ plantId, scheduleId: String(bodyOf(made)['id']), type });
  }
  return needs;
}

test('the days that a copy computes are those of the service, in every time zone', async () => {
  const needs = await plants();
  expect(needs.length).toBeGreaterThan(40);
  expect(await agree()).toBeGreaterThan(5 * 20);
  for (const [index, { plantId, scheduleId, type }] of needs.entries()) {
    pass(1 / 24);
    const timezone = ZONES[index % ZONES.length];
    if (index % 2 === 0) await user.patch('/api/account', { timezone }).expect(200);
    const occurredAt = new Date(now - (index % 7) * 9 * HOUR_MS).toISOString();
    const scheduled = index % 4 === 0 && scheduleId !== undefined ? { scheduleId } : {};
    if (index % 5 > 0) await user.event(plantId, { type, occurredAt, ...scheduled });
    const what = { plantId, ...(scheduleId === undefined ? { type } : { scheduleId }) };
    const until = new Date(now + (1 + index) * DAY_MS).toISOString().slice(0, 10);
    // Not all are needed: some schedules are not active.
    if (index % 5 === 3) await user.post('/api/care/snooze', { ...what, until });
    if (index % 5 === 4) await user.post('/api/care/skip', what);
  }
  await agree();
  pass(3);
  for (const { plantId, type } of needs.slice(0, 12)) await user.event(plantId, { type });
  for (const { plantId } of needs.slice(12, 15)) {
    await user.post(`/api/plants/${plantId}/archive`, { reason: 'sold' }).expect(200);
  }
  await agree();
  pass(200);
  await agree();
});
