import { record, records } from '../support/client';
import type { TestService } from '../support/service';
import { CommandLine, resultOf } from './run';
import { startService, userOf } from '../support/program';

let service: TestService;
let cli: CommandLine;

beforeAll(async () => {
  service = await startService({});
  cli = new CommandLine(service.mongodbUri);
});

afterAll(() => service.close());

function demo(user: string, plants: number, events: number, ...options: string[]): string[] {
  return ['demo', '--user', user, '--plants', `${plants}`, '--events', `${events}`, ...options];
}

async function insightsOf(user: string): Promise<Record<string, unknown>> {
  const { token } = record(await cli.json('token', 'create', '--user', user));
  const client = userOf(service.url, user, String(token));
  return record((await client.get('/api/insights').expect(200)).body);
}

test('demo writes the requested numbers of plants and events, and derived data is correct', async () => {
  const command = demo('ada', 12, 3210, '--tier', 'pro');
  const written = record(resultOf(await cli.run(...command, '--json')));
  expect(Object.keys(written)).toEqual(['user', 'plants', 'events', 'photos', 'seconds']);
  expect(written).toMatchObject({ user: 'ada', plants: 12, events: 3210 });
  const { overview, growthTracking } = await insightsOf('ada');
  expect(overview).toMatchObject({
    totalPlants: 12,
    totalEvents: 3210,
    totalPhotos: written['photos'],
  });
  expect(growthTracking).not.toEqual([]);
  expect(await cli.json('reconcile', '--check')).toMatchObject({ differences: [] });
});

test('demo shows its progress in a terminal, and clears it at the end', async () => {
  // More than one batch.
  const { code, stdout } = await cli.runInTerminal(...demo('tess', 2, 10_100, '--tier', 'pro'));
  expect(code).toBe(0);
  expect(stdout).toMatch(/Events [=-]+ \d+ %, \w+ left/);
  const cleared = '\x1b[2K';
  const [last = ''] = stdout.split(cleared).slice(-1);
  expect(last).toMatch(/^Added 2 plants, 10,100 events, \d+ photos to tess in [\d.]+ s\.\r\n$/);
});

test('demo adds to existing plants, and needs no events', async () => {
  await cli.json(...demo('bob', 1, 0));
  expect(await cli.text(...demo('bob', 2, 5))).toMatch(
    /^Added 2 plants, 5 events, \d+ photos? to bob in [\d.]+ s\.\n$/,
  );
  expect((await insightsOf('bob'))['overview']).toMatchObject({ totalPlants: 3, totalEvents: 5 });
});

test('demo writes only data that requests could have written, with dates in the past', async () => {
  await cli.json(...demo('carl', 5, 400, '--tier', 'pro'));
  const { token } = record(await cli.json('token', 'create', '--user', 'carl'));
  const carl = userOf(service.url, 'carl', String(token));
  // The service under test checks every response against its schema.
  const plants = await carl.get('/api/plants').expect(200);
  for (const { id } of records(plants.body)) {
    const page = await carl.get(`/api/plants/${String(id)}/events?limit=100`).expect(200);
    for (const { occurredAt } of records(record(page.body)['items'])) {
      expect(Date.parse(String(occurredAt))).toBeLessThan(Date.now());
    }
  }
});

test('the same seed generates the same garden', async () => {
  const garden = async (user: string, seed: string) => {
    await cli.json(...demo(user, 4, 100, '--seed', seed));
    const { token } = record(await cli.json('token', 'create', '--user', user));
    const plants = await userOf(service.url, user, String(token)).get('/api/plants').expect(200);
    return records(plants.body).map(({ name, species, location }) => ({ name, species, location }));
  };
  const first = await garden('dora', '7');
  expect(await garden('eve', '7')).toEqual(first);
  expect(await garden('finn', '8')).not.toEqual(first);
});

test('demo fails without writing anything if a quota would be exceeded', async () => {
  const refused = await cli.run(...demo('gina', 26, 10));
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toBe('plants: 26 needed, but the free tier leaves gina room for 25.\n');
  expect((await cli.run('user', 'show', 'gina')).code).toBe(1);
  const tight = new CommandLine(cli.mongodbUri, { TIER_FREE_PHOTOS: '2', TIER_FREE_EVENTS: '500' });
  const tooMany = await tight.run(...demo('gina', 25, 501));
  expect(tooMany.stderr).toContain(
    'events: 501 needed, but the free tier leaves gina room for 500.',
  );
  expect((await cli.run('user', 'show', 'gina')).code).toBe(1);
  expect(await tight.json(...demo('gina', 25, 500))).toMatchObject({ plants: 25, photos: 2 });
  const full = await cli.run(...demo('gina', 1, 0));
  expect(full.code).toBe(1);
  expect(full.stderr).toContain('plants: 1 needed, but the free tier leaves gina room for 0.');
  expect(await cli.json('reconcile', '--check')).toMatchObject({ differences: [] });
});
