import type { TestService, TestUser } from '../../../test/support/service';
import { records } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { bodyOf, expectError, faultsOf } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;
let plantId: string;

beforeAll(async () => {
  service = await startService();
  user = await service.user();
  plantId = (await user.plant()).id;
});
afterAll(() => service.close());

const MOMENTS = [
  ['2026-03-01T09:30:00Z', '2026-03-01T09:30:00.000Z'],
  ['2026-03-01t09:30:00z', '2026-03-01T09:30:00.000Z'],
  ['2026-03-01T09:30:00.1Z', '2026-03-01T09:30:00.100Z'],
  ['2026-03-01T09:30:00.123Z', '2026-03-01T09:30:00.123Z'],
  ['2026-03-01T09:30:00.123456Z', '2026-03-01T09:30:00.123Z'],
  ['2026-03-01T09:30:00.999999999Z', '2026-03-01T09:30:00.999Z'],
  ['2026-03-01T09:30:00+00:00', '2026-03-01T09:30:00.000Z'],
  ['2026-03-01T09:30:00-00:00', '2026-03-01T09:30:00.000Z'],
  ['2026-03-01T09:30:00+05:45', '2026-03-01T03:45:00.000Z'],
  ['2026-03-01T09:30:00-03:30', '2026-03-01T13:00:00.000Z'],
  ['2026-03-01T00:30:00+14:00', '2026-02-28T10:30:00.000Z'],
  ['2025-12-31T23:30:00.5-12:00', '2026-01-01T11:30:00.500Z'],
  ['2026-03-01T09:30:00+23:59', '2026-02-28T09:31:00.000Z'],
  ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
  ['2000-02-29T12:00:00Z', '2000-02-29T12:00:00.000Z'],
  ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
  ['1066-10-14T09:00:00Z', '1066-10-14T09:00:00.000Z'],
  ['0099-01-01T00:00:00Z', '0099-01-01T00:00:00.000Z'],
] as const;

test('occurredAt is stored in UTC to the millisecond, when logged and when moved', async () => {
  const stored = MOMENTS.map(async ([occurredAt]) => {
    const logged = await user.event(plantId, { occurredAt });
    const { id } = await user.event(plantId, { occurredAt: '2026-06-01T00:00:00Z' });
    const moved = await user.patch(`/api/events/${id}`, { occurredAt }).expect(200);
    return [occurredAt, logged['occurredAt'], bodyOf(moved)['occurredAt']];
  });
  expect(await Promise.all(stored)).toEqual(
    MOMENTS.map(([given, moment]) => [given, moment, moment]),
  );
});

const NO_MOMENTS = [
  ['a date alone', '2026-03-01'],
  ['no offset', '2026-03-01T09:30:00'],
  ['no offset, with milliseconds', '2026-03-01T09:30:00.000'],
  ['30 February', '2026-02-30T09:30:00Z'],
  ['29 February of a common year', '2026-02-29T09:30:00Z'],
  ['29 February of 1900', '1900-02-29T09:30:00Z'],
  ['31 April', '2026-04-31T09:30:00Z'],
  ['month 13', '2026-13-01T09:30:00Z'],
  ['month 0', '2026-00-01T09:30:00Z'],
  ['day 0', '2026-03-00T09:30:00Z'],
  ['day 32', '2026-03-32T09:30:00Z'],
  ['24 hours', '2026-03-01T24:00:00Z'],
  ['60 minutes', '2026-03-01T09:60:00Z'],
  ['61 seconds', '2026-03-01T09:30:61Z'],
  ['an offset of 24 hours', '2026-03-01T09:30:00+24:00'],
  ['an offset of 60 minutes', '2026-03-01T09:30:00+01:60'],
  ['an offset without a colon', '2026-03-01T09:30:00+0100'],
  ['an offset of hours alone', '2026-03-01T09:30:00+01'],
  ['an offset with a typographic minus', '2026-03-01T09:30:00\u221201:00'],
  ['a zone by name', '2026-03-01T09:30:00 Europe/Paris'],
  ['a zone in brackets', '2026-03-01T09:30:00+01:00[Europe/Paris]'],
  ['Z and an offset', '2026-03-01T09:30:00Z+01:00'],
  ['no seconds', '2026-03-01T09:30Z'],
  ['a fraction without digits', '2026-03-01T09:30:00.Z'],
  ['a comma before the fraction', '2026-03-01T09:30:00,5Z'],
  ['one digit for the month', '2026-3-01T09:30:00Z'],
  ['a year of two digits', '26-03-01T09:30:00Z'],
  ['a year of five digits', '12026-03-01T09:30:00Z'],
  ['a year with a sign', '+002026-03-01T09:30:00Z'],
  ['the basic format', '20260301T093000Z'],
  ['an ordinal date', '2026-060T09:30:00Z'],
  ['a week date', '2026-W09-7T09:30:00Z'],
  ['a space before', ' 2026-03-01T09:30:00Z'],
  ['a line break after', '2026-03-01T09:30:00Z\n'],
  ['digits of another script', '２０２６-03-01T09:30:00Z'],
  ['the form of e-mail', 'Sun, 01 Mar 2026 09:30:00 GMT'],
  ['Unix milliseconds in a string', '1772357400000'],
  ['Unix milliseconds', 1_772_357_400_000],
  ['Unix seconds', 1_772_357_400],
  ['a word', 'now'],
  ['nothing', ''],
  ['null', null],
] as const;

test('any other occurredAt is refused, when logged and when moved', async () => {
  const { id } = await user.event(plantId, { occurredAt: '2026-06-01T00:00:00Z' });
  const refused = NO_MOMENTS.map(async ([what, occurredAt]) => {
    const logged = await user.post(`/api/plants/${plantId}/events`, { occurredAt });
    const moved = await user.patch(`/api/events/${id}`, { occurredAt });
    return [what, ...[logged, moved].map((each) => [each.status, faultsOf(each)])];
  });
  const fault = [400, ['occurredAt']];
  expect(await Promise.all(refused)).toEqual(NO_MOMENTS.map(([what]) => [what, fault, fault]));
});

describe('an occurredAt in the future', () => {
  const NOW = '2026-03-10T12:00:00.000Z';
  const LAST = '2026-03-11T12:00:00.000Z';
  const TOO_LATE = '2026-03-11T12:00:00.001Z';

  beforeEach(async () => {
    setClock(NOW);
    user = await service.user({ expiresInSeconds: 10 * 365 * 24 * 60 * 60 });
    plantId = (await user.plant({ wateringFrequencyDays: 7 })).id;
  });
  afterEach(resetClock);

  const dueOn = async () =>
    records(bodyOf(await user.get('/api/care?dueBy=9999-12-31').expect(200))['items']);

  test('within 24 hours is accepted, and counts at once', async () => {
    const { id } = await user.event(plantId, { occurredAt: NOW });
    await user.patch(`/api/events/${id}`, { occurredAt: LAST }).expect(200);
    const several = { plantIds: [plantId], occurredAt: '2026-03-11T14:00:00+02:00' };
    await user.post('/api/events', several).expect(201);
    const plant = bodyOf(await user.get(`/api/plants/${plantId}`).expect(200));
    expect(plant).toMatchObject({ lastWatered: LAST, lastEvent: LAST });
    expect(await dueOn()).toMatchObject([{ lastDone: LAST, dueOn: '2026-03-18' }]);
  });

  test.each(['2062-03-10T12:00:00Z', '9999-12-31T23:59:59.999Z', TOO_LATE])(
    'beyond that, %s, is refused when logged, logged in bulk or moved',
    async (occurredAt) => {
      const { id } = await user.event(plantId, { occurredAt: NOW });
      for (const answer of [
        await user.post(`/api/plants/${plantId}/events`, { occurredAt }),
        await user.post('/api/events', { plantIds: [plantId], occurredAt }),
        await user.patch(`/api/events/${id}`, { occurredAt }),
      ]) {
        expectError(
          answer,
          400,
          'validation_error',
          /^occurredAt must be at most 24 hours from now/,
        );
      }
      expect(await dueOn()).toMatchObject([{ lastDone: NOW, dueOn: '2026-03-17' }]);
    },
  );
});
