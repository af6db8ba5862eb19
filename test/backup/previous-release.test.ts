import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { mongo } from 'mongoose';

import { createBackup } from '../../src/app/backup/create';
import { CommandLine, run } from '../cli/run';
import { bodyOf } from '../support/shapes';
import { freshDatabase, startService, userOf } from '../support/program';

/** A backup by 1.2.0 of a garden in which each thing was done once. */
const ARCHIVE = path.join(__dirname, '1.2.0.tar.gz');
/** The second page of its events, by 1.2.0. */
const CURSOR =
  'Q0IwdG9PMHJHV0dyMTc5MzY2NDAwMDAwMC4wMWEyMWE1Zi02NWZjLTc1ZmYtYjQ4YS0xYjZjODdjNGU2Y2E';

let uri: string;
let client: mongo.MongoClient;
let cli: CommandLine;

beforeEach(() => {
  uri = freshDatabase();
  client = new mongo.MongoClient(uri);
  cli = new CommandLine(uri);
});
afterEach(async () => {
  await client.db().dropDatabase();
  await client.close();
});

test('the data of 1.2.0 opens, with all that it shows', async () => {
  await cli.text('backup', 'restore', ARCHIVE);
  const service = await startService({ mongodbUri: uri });
  const created = await cli.json(
    'token',
    'create',
    '--user',
    'ada',
    '--scopes',
    'plants:read,plants:write,events:write,insights:read',
  );
  const { token } = created as { token: string };
  const ada = userOf(service.url, 'ada', token);
  const read = async (at: string) => bodyOf(await ada.get(at).expect(200));
  const plants = (await ada.get('/api/plants').expect(200)).body as { name: string; id: string }[];
  expect(plants).toMatchObject([
    {
      name: 'Boston fern',
      lastWatered: '2026-11-02T11:30:00.000Z',
      primaryPhoto: { width: 800, height: 600 },
    },
    { name: 'Basil' },
    { name: 'Moss' },
  ]);
  expect((await ada.get('/api/plants?status=archived')).body).toMatchObject([
    { name: 'Dead', archiveReason: 'died' },
  ]);
  const { items } = await read('/api/events?limit=100');
  expect((items as { type: string }[]).map(({ type }) => type)).toEqual([
    'note',
    'growth',
    'fertilized',
    'watered',
    'watered',
  ]);
  expect(await read(`/api/events?limit=2&cursor=${CURSOR}`)).toMatchObject({
    items: [{ type: 'fertilized', text: 'half strength' }, { type: 'watered' }],
  });
  expect(await read('/api/care?dueBy=2027-12-31')).toMatchObject({
    items: expect.arrayContaining([
      expect.objectContaining({ plantName: 'Boston fern', dueOn: '2027-01-05', type: 'watered' }),
      expect.objectContaining({ plantName: 'Basil', label: 'Mist' }),
    ]) as unknown,
  });
  expect(await read('/api/insights?from=2026-11-01&to=2026-11-05')).toMatchObject({
    overview: { totalPlants: 3 },
    growthTracking: [{ plantName: 'Boston fern', total: 2.5 }],
    careActivityByDay: [
      // In Auckland.
      { date: '2026-11-02', type: 'watered', count: 1 },
      { date: '2026-11-03', type: 'fertilized', count: 1 },
      { date: '2026-11-03', type: 'growth', count: 1 },
      { date: '2026-11-03', type: 'watered', count: 1 },
    ],
  });
  const changes = await read('/api/changes');
  expect(changes['plants']).toHaveLength(4);
  const days = (items as { occurredOn: string }[]).map(({ occurredOn }) => occurredOn);
  expect(days.slice(1)).toEqual(['2026-11-03', '2026-11-03', '2026-11-03', '2026-11-02']);
  const { items: photos } = await read('/api/photos?sort=takenAt');
  const [photo] = photos as Record<string, unknown>[];
  expect(photo).toMatchObject({ takenAt: null, updatedAt: photo?.['createdAt'] });
  expect(changes['photos']).toEqual(photos);
  const takenAt = '2026-11-01T08:00:00.000Z';
  const dated = await ada
    .patch(`/api/photos/${String(photo?.['id'])}`, { takenAt })
    .set('If-Match', `"u:${String(photo?.['updatedAt'])}"`)
    .expect(200);
  expect(await read('/api/photos?sort=takenAt')).toMatchObject({ items: [dated.body] });
  const [mist] = changes['schedules'] as Record<string, unknown>[];
  expect(mist).toMatchObject({ label: 'Mist', monthDays: null });
  const monthly = { everyDays: null, weekdays: null, monthDays: [1, -1] };
  const changed = await ada.patch(`/api/schedules/${String(mist?.['id'])}`, monthly).expect(200);
  expect(changed.body).toMatchObject(monthly);
  await ada.patch(`/api/plants/${plants[0]?.id ?? ''}`, { notes: 'Still here' }).expect(200);
  await service.close();
  expect(await cli.json('reconcile', '--check')).toMatchObject({ checked: 2, differences: [] });
  expect(await cli.json('migrate', 'status')).toMatchObject({ isUpToDate: true });
});

test('an archive of a release before 1.2.0 is refused, and nothing is written', async () => {
  await cli.json('token', 'create', '--user', 'ada');
  const migrations = client.db().collection<{ _id: string }>('migrations');
  await migrations.deleteMany({ _id: /days$/ });
  const folder = await mkdtemp(path.join(tmpdir(), 'previous-release-'));
  const file = path.join(folder, 'old.tar.gz');
  await createBackup({ mongodbUri: uri, isManaged: false, file });
  const dataDir = path.join(folder, 'new');
  const { code, stderr } = await run(['backup', 'restore', file], { DATA_DIR: dataDir });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      'The data is of a release before 1.2.0: open it with 1.2.0, which migrates it, before this release.\n',
  });
  expect(existsSync(dataDir)).toBe(false);
  await rm(folder, { recursive: true });
});
