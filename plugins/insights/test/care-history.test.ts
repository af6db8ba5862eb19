import { insightsOf, water } from '../../../test/support/insights';
import type { TestService, TestUser } from '../../../test/support/service';
import { differencesOf, startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;
let plantId: string;

beforeAll(async () => {
  service = await startService({ jobs: false });
});
beforeEach(async () => {
  user = await service.user();
  plantId = (await user.plant()).id;
});
afterAll(() => service.close());

/** The day so many days after 1 January 2020. */
function day(number: number): string {
  return new Date(Date.UTC(2020, 0, 1 + number)).toISOString().slice(0, 10);
}

/** The streaks of some days, counted one by one. */
function streaksOf(days: readonly number[]) {
  let longestStreak = 0;
  for (const first of days) {
    let last = first;
    while (days.includes(last + 1)) last += 1;
    longestStreak = Math.max(longestStreak, last - first + 1);
  }
  const lastWateredDate = days.length === 0 ? null : day(Math.max(...days));
  return { currentStreak: 0, longestStreak, lastWateredDate };
}

test('streaks stay correct while many waterings are added, deleted and moved', async () => {
  const logged = new Map<string, number>();
  // A fixed sequence that looks random.
  let state = 7;
  const next = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  for (let step = 0; step < 60; step += 1) {
    const ids = [...logged.keys()];
    const id = ids[next(Math.max(1, ids.length))];
    const number = next(25);
    const occurredAt = `${day(number)}T12:00:00Z`;
    const kind = next(3);
    if (id === undefined || kind === 0 || ids.length < 10) {
      const [event] = await water(user, plantId, [occurredAt]);
      logged.set(event?.id ?? '', number);
    } else if (kind === 1) {
      await user.delete(`/api/events/${id}`).expect(200);
      logged.delete(id);
    } else {
      await user.patch(`/api/events/${id}`, { occurredAt }).expect(200);
      logged.set(id, number);
    }
    const { wateringStreaks, overview } = await insightsOf(user);
    expect([step, wateringStreaks]).toEqual([step, streaksOf([...logged.values()])]);
    expect(overview.totalEvents).toBe(logged.size);
  }
  expect(await differencesOf(service.app, user.id)).toEqual([]);
});

test('all days are counted if there are more months than in a batch', async () => {
  const months = Array.from({ length: 130 }, (_, month) => new Date(Date.UTC(2010, month, 5)));
  await water(
    user,
    plantId,
    months.map((month) => month.toISOString()),
  );
  const answer = await user.get('/api/insights?from=0000-01-01&to=9999-12-31').expect(200);
  const { careActivityByDay } = answer.body as { careActivityByDay: { date: string }[] };
  expect(careActivityByDay.map(({ date }) => date)).toEqual(
    months.map((month) => month.toISOString().slice(0, 10)),
  );
});

test('reconcile finds counts of days and weekdays that differ from the events', async () => {
  await water(user, plantId, [1, 2, 40].map(day));
  const { connection } = service.app.database;
  const months = connection.collection('careMonths');
  const { id: userId } = user;
  await months.updateOne(
    { userId, month: '2020-01' },
    { $set: { 'days.02.watered': 7, 'days.05.growth': 1 } },
  );
  await months.deleteOne({ userId, month: '2020-02' });
  await months.updateOne({ userId, month: 'all' }, { $set: { 'days.5.watered': 7 } });
  const differences = await differencesOf(service.app, user.id);
  expect(differences.map(({ difference }) => difference)).toEqual([
    'events of type watered on 2020-01-02: 7 should be 1',
    'events of type growth on 2020-01-05: 1 should be 0',
    'events of type watered on 2020-02-10: 0 should be 1',
    'events of type watered on a Saturday: 7 should be 0',
  ]);
});
