import { Client } from '../../../test/support/client';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { exportedParts, withoutIds } from '../../../test/support/whole-garden';
import { MAX_ACTS, MAX_SCHEDULES, WEEKDAYS_OF_MONTH } from '../../care';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** As long as a rule can be as JSON. */
const LONGEST_RULE = {
  weekdays: WEEKDAYS_OF_MONTH,
  months: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  seasons: Array.from({ length: 12 }, (_, month) => {
    const date = String(month + 1).padStart(2, '0');
    return { from: `${date}-10`, to: `${date}-20`, everyDays: 3650 };
  }),
  startOn: '2026-01-01',
  endOn: '2999-12-31',
};

/** Ids in order, as those of exports are. */
const id = (number: number): string =>
  `${(0x0198_0000 + number).toString(16).padStart(8, '0')}-7c1b-7d6e-9f3a-2b5c8d4e6f10`;

async function partsOf(user: TestUser): Promise<object[]> {
  const client = new Client(service.url, user.token);
  const parts = await exportedParts(client);
  client.close();
  return parts;
}

test('a plant fits into one import with all the acts that its cares may have', async () => {
  const user = await service.user();
  const at = (act: number): string => new Date(Date.UTC(2026, 0, 1) + act).toISOString();
  const acts = Array.from({ length: MAX_ACTS }, (_, act) => ({ at: at(act), rule: LONGEST_RULE }));
  const schedules = Array.from({ length: MAX_SCHEDULES }, (_, number) => {
    return { id: id(number), care: 'other', label: '\u{1}'.repeat(60), ...LONGEST_RULE };
  });
  const text = (length: number): string => '\u{1}'.repeat(length);
  const decisions = acts.map((act) => {
    const zone = 'America/Argentina/ComodRivadavia';
    return {
      at: act.at,
      revision: 2 ** 40,
      zone,
      until: '2026-12-31',
      dueOn: '2026-12-31',
      ofSeveral: true,
    };
  });
  const plant = {
    ...{ id: id(100), name: text(100), species: text(100), location: text(100) },
    ...{ notes: text(1000), careNotes: text(1000), wateringNotes: text(500) },
    ...{ lightNotes: text(500), fertilizerNotes: text(500), temperatureNotes: text(500) },
    schedules,
    snoozes: [
      ...['watered', 'fertilized'].map((type) => ({ type, acts: decisions })),
      ...schedules.map((each) => ({ scheduleId: each.id, acts })),
    ],
  };
  await user.post('/api/import', { part: 1, parts: 1, plants: [plant] }).expect(201);
  const parts = await partsOf(user);
  expect(parts).toHaveLength(1);
  expect(JSON.stringify(parts).length).toBeGreaterThan(1024 * 1024);
  const other = await service.user();
  await other.post('/api/import', parts[0]).expect(201);
  expect(withoutIds(JSON.stringify(await partsOf(other)))).toBe(withoutIds(JSON.stringify(parts)));
});
