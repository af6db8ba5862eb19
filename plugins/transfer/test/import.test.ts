import { Copy } from '../../../test/support/copy';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, listOf, NOBODYS_ID } from '../../../test/support/shapes';
import { differencesOf, startService } from '../../../test/support/program';
import { Client } from '../../../test/support/client';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(() => service.close());

const DAY = 24 * 60 * 60 * 1000;
const ago = (days: number): string => new Date(Date.now() - days * DAY).toISOString();
const image = (id?: string) => ({
  ...(id === undefined ? {} : { id }),
  imagehostPublicId: 'fern',
  secureUrl: 'https://images.example.com/fern.jpg',
  width: 800,
  height: 600,
  format: 'jpg',
});
const PHOTO = '0198e4a2-7c1b-7d6e-9f3a-2b5c8d4e6f10';

const bring = (body: object, query = '') => user.post(`/api/import${query}`, body);
const plantsOf = async (of = user) => listOf(await of.get('/api/plants').expect(200));

/** The faults in a response, as `[line, field]` if there are lines. */
function faults(response: { body: unknown }): unknown[] {
  const { details = [] } = response.body as { details?: { field: string; line?: number }[] };
  return details.map(({ field, line }) => (line === undefined ? field : [line, field]));
}

test('plants are imported with their photos and events, and derived data is right', async () => {
  const plants = [
    {
      name: 'Monstera',
      wateringFrequencyDays: 7,
      primaryPhotoId: PHOTO,
      createdAt: ago(400),
      photos: [{ ...image(PHOTO), cropX: 0, cropY: 0, cropWidth: 500, cropHeight: 500 }],
      events: [
        { type: 'watered', occurredAt: ago(3) },
        {
          type: 'growth',
          growthAmount: 2,
          growthUnit: 'cm',
          occurredAt: ago(9),
          photoIds: [PHOTO],
        },
        { type: 'watered', occurredAt: ago(2), text: 'Rainwater 🌿' },
        { type: 'fertilized', occurredAt: ago(30) },
      ],
    },
    { name: 'Fern', toxic: true },
  ];
  const answer = await bring({ plants }).expect(201);
  expect(answer.body).toEqual({ plants: 2, events: 4 });
  const [monstera, fern] = await plantsOf();
  expect([monstera?.['name'], fern?.['name']].sort()).toEqual(['Fern', 'Monstera']);
  const { id = '', ...shown } = monstera ?? {};
  expect(shown).toMatchObject({
    createdAt: plants[0]?.createdAt,
    lastWatered: plants[0]?.events?.[2]?.occurredAt,
    lastEvent: plants[0]?.events?.[2]?.occurredAt,
    primaryPhoto: { cropWidth: 500, plantId: id },
  });
  const { items } = bodyOf(await user.get(`/api/plants/${id}/events`)) as { items: object[] };
  expect(items).toHaveLength(4);
  expect(items[2]).toMatchObject({ type: 'growth', photos: [{ imagehostPublicId: 'fern' }] });
  const care = bodyOf(await user.get('/api/care?dueBy=2999-01-01'));
  expect(care['items']).toMatchObject([{ plantName: 'Monstera', type: 'watered' }]);
  expect(bodyOf(await user.get('/api/insights'))['growthTracking']).toMatchObject([{ total: 2 }]);
  expect(bodyOf(await user.get('/api/account'))['limits']).toMatchObject({
    plants: { used: 2 },
    photos: { used: 1 },
  });
  expect(await differencesOf(service.app, user.id)).toEqual([]);
});

test('a copy gets imported plants without starting again', async () => {
  const client = new Client(service.url, user.token);
  const copy = new Copy();
  await user.plant();
  await copy.sync(client);
  const events = Array.from({ length: 300 }, (_, day) => ({ occurredAt: ago(day) }));
  await bring({ plants: [{ name: 'Fern', photos: [image()], events }] }).expect(201);
  await copy.sync(client);
  expect(copy.contents.plants).toHaveLength(2);
  expect(copy.contents.events).toHaveLength(300);
  expect(copy.contents.photos).toHaveLength(1);
});

test('as many schedules and events as one request may have are imported', async () => {
  const names = Array.from({ length: 250 }, (_, index) => `Fern ${index}`);
  const idOf = (schedule: number): string => PHOTO.replace(/\w{12}$/, `${10 ** 11 + schedule}`);
  const schedules = Array.from({ length: 20 }, (_, index) => ({
    ...(index < 18 ? { care: 'watered' } : { care: 'other', label: 'Mist' }),
    id: idOf(index),
    everyDays: 1,
  }));
  const plants = names.map((name, plant) => ({
    name,
    schedules,
    events: Array.from({ length: 20 }, (_, index) => ({
      occurredAt: ago(index + plant / 1000),
      ...(index < 15 && { scheduleId: idOf(index) }),
    })),
  }));
  const bare = Array.from({ length: 250 }, (_, at) => ({ name: `Oak ${at}`, schedules }));
  await bring({ plants: [...plants, ...bare] }).expect(201);
  expect(await differencesOf(service.app, user.id)).toEqual([]);
  const { items } = bodyOf(await user.get('/api/care?dueBy=2999-01-01'));
  const ofFern = listOf({ body: items }).filter(({ plantName }) => plantName === 'Fern 0');
  const lastDone = [
    ...(plants[0]?.events.slice(0, 15) ?? []),
    ...Array.from({ length: 3 }, () => plants[0]?.events[15]),
  ];
  expect(ofFern.flatMap(({ lastDone: last }) => last ?? []).sort()).toEqual(
    lastDone.map((event) => event?.occurredAt).sort(),
  );
});

test('all faults are reported by path, and nothing is added', async () => {
  const answer = await bring({
    plants: [
      { name: '', colour: 1, photos: [{ ...image(), plantId: NOBODYS_ID }], events: 7 },
      7,
      {
        name: 'Fern',
        createdAt: ago(-2),
        photos: [image(PHOTO), { ...image(PHOTO), cropX: 1 }],
        events: [
          { type: 'danced' },
          { occurredAt: ago(1), occurredOn: '2020-01-01' },
          { occurredAt: ago(-2), occurredOn: ago(-2).slice(0, 10) },
          { occurredOn: 'today' },
          { growthAmount: -1, photoIds: ['x'] },
        ],
      },
    ],
  });
  expectError(answer, 400, 'validation_error', /^plants\[0\]\.name .* \(and 13 more faults\)\.$/);
  expect(faults(answer)).toEqual([
    'plants[0].name',
    'plants[0].colour',
    'plants[0].photos[0].plantId',
    'plants[0].events',
    'plants[1]',
    'plants[2].createdAt',
    'plants[2].photos[1].id',
    'plants[2].photos[1].cropX',
    'plants[2].events[0].type',
    'plants[2].events[1].occurredOn',
    'plants[2].events[2].occurredAt',
    'plants[2].events[3].occurredOn',
    'plants[2].events[4].growthAmount',
    'plants[2].events[4].photoIds[0]',
  ]);
  expect(await plantsOf()).toEqual([]);
});

test('at most a hundred faults are listed', async () => {
  const answer = await bring({ plants: Array.from({ length: 150 }, () => ({})) });
  expect(faults(answer)).toHaveLength(100);
  expect(bodyOf(answer)['error']).toBe('plants[0].name is required (and 149 more faults).');
});

test('photos of the account can be named, but not those of others', async () => {
  const own = await user.photo();
  const other = await service.user();
  const plantWith = (primaryPhotoId: string) => ({ plants: [{ name: 'Fern', primaryPhotoId }] });
  await bring(plantWith(own.id)).expect(201);
  const [plant] = await plantsOf();
  expect(bodyOf(await user.get(`/api/photos/${own.id}`))['plantId']).toBe(plant?.id);
  const foreign = await bring(plantWith((await other.photo()).id));
  expectError(foreign, 400, 'photo_not_found');
  expect(await plantsOf()).toHaveLength(1);
});

test('the limits of the tier hold exactly, and nothing is added beyond them', async () => {
  user = await service.user({ tier: 'free' });
  const plants = (count: number) => Array.from({ length: count }, () => ({ name: 'Fern' }));
  await bring({ plants: plants(20) }).expect(201);
  expectError(await bring({ plants: plants(6) }), 403, 'plant_limit_reached');
  expectError(await bring({ plants: plants(6) }, '?dryRun=true'), 403, 'plant_limit_reached');
  await bring({ plants: plants(5) }).expect(201);
  expectError(await bring({ plants: plants(1) }), 403, 'plant_limit_reached');
  expect(await plantsOf()).toHaveLength(25);
  const photos = Array.from({ length: 251 }, () => image());
  expectError(await bring({ plants: [], photos }), 403, 'photo_limit_reached');
});

test('archived plants are imported as archived, and do not count against the tier', async () => {
  user = await service.user({ tier: 'free' });
  const active = Array.from({ length: 25 }, () => ({ name: 'Fern' }));
  const archivedAt = ago(9);
  const archived = [
    { name: 'Oak', archivedAt, archiveReason: 'died', events: [{ occurredAt: ago(10) }] },
    { name: 'Elm', archivedAt },
    { name: 'Ash', archiveReason: 'sold', wateringFrequencyDays: 1 },
  ];
  await bring({ plants: [...active, ...archived] }).expect(201);
  const shown = listOf(await user.get('/api/plants?status=archived').expect(200));
  expect(new Map(shown.map((each) => [each['name'], each['archiveReason']]))).toEqual(
    new Map([
      ['Oak', 'died'],
      ['Elm', 'other'],
      ['Ash', 'sold'],
    ]),
  );
  expect(shown.find(({ name }) => name === 'Elm')?.['archivedAt']).toBe(archivedAt);
  expect(bodyOf(await user.get('/api/care?dueBy=2999-01-01'))['items']).toEqual([]);
  expect(await differencesOf(service.app, user.id)).toEqual([]);
  const many = Array.from({ length: 500 }, () => ({ name: 'Oak', archiveReason: 'died' }));
  await bring({ plants: many }).expect(201);
  expectError(await bring({ plants: many }), 403, 'plant_limit_reached');
  await bring({ plants: many.slice(3) }).expect(201);
});

test('a dry run returns what an import would add, and adds nothing', async () => {
  const before = bodyOf(await user.get('/api/account'))['limits'];
  const answer = await bring({ plants: [{ name: 'Fern', events: [{}] }] }, '?dryRun=true').expect(
    200,
  );
  expect(answer.body).toEqual({ plants: 1, events: 1 });
  expect(await plantsOf()).toEqual([]);
  expect(bodyOf(await user.get('/api/account'))['limits']).toEqual(before);
  expect((await bring({ plants: [{}] }, '?dryRun=true')).status).toBe(400);
  expect((await bring({ plants: [] }, '?dryRun=maybe')).status).toBe(400);
});

test('a retry under the same key adds nothing, and a dry run does not use the key', async () => {
  const body = { plants: [{ name: 'Fern', createdAt: ago(1) }] };
  const send = (query = '', sent: object = body) =>
    bring(sent, query).set('Idempotency-Key', 'spring');
  await send('?dryRun=true').expect(200);
  await send().expect(201);
  const repeated = await send().expect(201);
  expect(repeated.headers['idempotent-replayed']).toBe('true');
  expect((await send('', { plants: [{ name: 'Oak' }] })).status).toBe(422);
  expect(await plantsOf()).toHaveLength(1);
});

test('an import needs both scopes', async () => {
  for (const scopes of [['plants:write'], ['events:write'], ['plants:read', 'plants:write']]) {
    user = await service.user({ scopes });
    expectError(await bring({ plants: [] }), 403, 'insufficient_scope');
  }
  user = await service.user({ scopes: ['plants:write', 'events:write'] });
  await bring({ plants: [] }).expect(201);
});

describe('limits', () => {
  test('an import has at most 500 plants and 5,000 events', async () => {
    const events = Array.from({ length: 10 }, (_, day) => ({
      occurredAt: ago(day),
      type: 'watered',
    }));
    const plants = Array.from({ length: 500 }, (_, at) => ({ name: `Fern ${at}`, events }));
    const answer = await bring({ plants }).expect(201);
    expect(answer.body).toEqual({ plants: 500, events: 5000 });
    expect(await differencesOf(service.app, user.id)).toEqual([]);
    expect(faults(await bring({ plants: [...plants, { name: 'Oak' }] }))).toEqual(['plants']);
    expect(
      faults(
        await bring({ plants: [...plants.slice(1), { name: 'Oak', events: [...events, {}] }] }),
      ),
    ).toEqual(['plants']);
  });

  test('an import has at most 2 MiB', async () => {
    const start = '{"plants":[]';
    const send = (bytes: number) =>
      service.anonymous
        .post('/api/import')
        .auth(user.token, { type: 'bearer' })
        .type('json')
        .send(`${start.padEnd(bytes - 1, ' ')}}`);
    await send(2 * 1024 * 1024).expect(201);
    const over = await send(2 * 1024 * 1024 + 1);
    expectError(over, 413, 'payload_too_large', 'The request body is larger than 2,048 KiB.');
  });
});

test('schedules are imported with their plants and events', async () => {
  const id = '0b7d3c0e-5a7e-4d0e-9d62-5a3a0f5d2c11';
  const mist = { id, care: 'other', label: 'Mist', everyDays: 3, startOn: '2026-01-01' };
  const event = { type: 'note', scheduleId: id, occurredAt: '2026-03-01T12:00:00Z' };
  const fern = { name: 'Fern', schedules: [mist], events: [event] };
  await bring({ plants: [fern] }).expect(201);
  const { items } = bodyOf(await user.get('/api/care?dueBy=2026-12-31').expect(200));
  expect(items).toEqual([
    expect.objectContaining({ care: 'other', label: 'Mist', dueOn: '2026-03-04' }),
  ]);
  expect(await differencesOf(service.app, user.id)).toEqual([]);
  const refused = await bring({
    plants: [
      {
        name: 'Fern',
        schedules: [{ ...mist, label: null }],
        events: [{ ...event, scheduleId: NOBODYS_ID }],
      },
      { name: 'Oak', schedules: [mist, mist], events: [] },
      {
        name: 'Ivy',
        schedules: Array.from({ length: 21 }, () => ({ care: 'watered', everyDays: 3 })),
      },
    ],
  });
  expect(faults(refused)).toEqual([
    'plants[0].schedules[0].label',
    'plants[0].events[0].scheduleId',
    'plants[1].schedules[1].id',
    'plants[2].schedules',
  ]);
});
