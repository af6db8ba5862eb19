import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { record, records } from '../support/client';
import type { TestService } from '../support/service';
import { CommandLine, resultOf } from './run';
import { startService, userOf } from '../support/program';

const SEEDS = path.resolve(__dirname, '../../seeds');

let service: TestService;
let cli: CommandLine;
let folder: string;

async function openService(): Promise<void> {
  service = await startService({});
  cli = new CommandLine(service.mongodbUri);
}

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'plant-care-seeds-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(file: string, content: unknown): void {
  writeFileSync(
    path.join(folder, file),
    typeof content === 'string' ? content : JSON.stringify(content),
  );
}

function ownGarden(): Record<string, unknown> {
  return record(JSON.parse(readFileSync(path.join(SEEDS, 'garden.json'), 'utf8')));
}

async function demoUser() {
  const { token } = record(await cli.json('token', 'create', '--user', 'demo'));
  return userOf(service.url, 'demo', String(token));
}

/** An announcement that is shown between two moments. */
function announcement(startDate: string | null, endDate: string | null) {
  return {
    id: randomUUID(),
    textEn: 'Mites!',
    textFr: 'Acariens !',
    linkUrl: null,
    linkTextEn: null,
    linkTextFr: null,
    active: true,
    startDate,
    endDate,
  };
}

describe('a garden', () => {
  beforeEach(openService);
  afterEach(() => service.close());

  test('the built-in seeds load once, with correct derived data', async () => {
    const plants = records(ownGarden()['plants']);
    const announcements = JSON.parse(
      readFileSync(path.join(SEEDS, 'announcements.json'), 'utf8'),
    ) as unknown[];
    expect(resultOf(await cli.run('seed', '--json'))).toEqual({
      announcements: announcements.length,
      garden: plants.length,
    });

    const user = await demoUser();
    const before = (await user.get('/api/plants').expect(200)).body as unknown;
    expect(records(before)).toHaveLength(plants.length);
    const shown = records((await user.get('/api/announcements').expect(200)).body);
    expect(shown.length).toBeGreaterThan(0);
    const { overview } = record((await user.get('/api/insights').expect(200)).body);
    expect(overview).toMatchObject({
      totalEvents: plants.flatMap((plant) => records(plant['events'])).length,
      totalPhotos: plants.flatMap((plant) => records(plant['photos'] ?? [])).length,
    });
    expect(await cli.json('reconcile', '--check')).toMatchObject({ checked: 1, differences: [] });

    expect(await cli.json('seed')).toEqual({ announcements: 0, garden: 0 });
    expect(await cli.text('seed', SEEDS)).toBe(
      'SEEDS          NEW RECORDS\nannouncements  0\ngarden         0\n',
    );
    expect((await user.get('/api/plants').expect(200)).body).toEqual(before);
  });

  test('a garden that exceeds a quota changes nothing', async () => {
    const garden = ownGarden();
    await cli.json('seed');
    await cli.json('user', 'set', 'demo', '--timezone', 'Asia/Kolkata');
    write('announcements.json', [announcement(null, null)]);
    write('garden.json', {
      ...garden,
      user: 'eve',
      tier: 'free',
      plants: Array.from({ length: 26 }, () => ({ name: 'Fern' })),
    });

    const { code, stderr } = await cli.run('seed', folder);
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toEqual([
      'garden.json: plants: 26 needed, but the free tier leaves eve room for 25.',
    ]);
    expect(records(await cli.json('user', 'list'))).toMatchObject([
      { user: 'demo', tier: garden['tier'], timezone: 'Asia/Kolkata' },
    ]);
    const user = await demoUser();
    const { text } = await user.get('/api/announcements').expect(200);
    expect(text).not.toContain('Mites');

    // Loading a garden again does not change its account either.
    await cli.json('seed');
    expect(await cli.json('user', 'show', 'demo')).toMatchObject({ timezone: 'Asia/Kolkata' });
  });

  test('a garden is not added to an account that has plants', async () => {
    await cli.json('seed');
    const user = await demoUser();
    const [first] = records((await user.get('/api/plants').expect(200)).body);
    await user.delete(`/api/plants/${String(first?.['id'])}`).expect(200);
    expect(await cli.json('seed')).toMatchObject({ garden: 0 });
  });
});

describe('the contents of seeds', () => {
  // None of them creates an account.
  beforeAll(openService);
  afterAll(() => service.close());

  test('every fault is reported with its file and place, and nothing is loaded', async () => {
    const garden = ownGarden();
    const [first, ...rest] = records(garden['plants']);
    const broken = {
      ...first,
      name: '',
      potType: 'bucket',
      events: [{ type: 'watered', daysAgo: -1, at: '8 am', occurredAt: '2026-01-01T08:00:00Z' }],
    };
    write('garden.json', { ...garden, timezone: 'Europe/Atlantis', plants: [broken, ...rest] });
    write('announcements.json', [{ id: 'x', textEn: 'Hello' }]);
    write('weather.json', {});
    write('notes.txt', 'not a seed');
    const { code, stdout, stderr } = await cli.run('seed', folder, '--json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    for (const fault of [
      /^garden\.json: plants\[0\]\.name /m,
      /^garden\.json: plants\[0\]\.potType /m,
      /^garden\.json: plants\[0\]\.events\[0\]\.daysAgo /m,
      /^garden\.json: plants\[0\]\.events\[0\]\.at /m,
      /^garden\.json: plants\[0\]\.events\[0\]\.occurredAt /m,
      /^garden\.json: timezone /m,
      /^announcements\.json: \[0\]\.id must be a UUID$/m,
      /^announcements\.json: \[0\]\.textFr is required$/m,
      /^weather\.json: no plugin loads this file; the known files are .*garden\.json/m,
    ]) {
      expect(stderr).toMatch(fault);
    }
    expect(await cli.json('user', 'list')).toEqual([]);
  });

  test('an event that refers to a photo missing from the file is a fault', async () => {
    const garden = ownGarden();
    const [first] = records(garden['plants']);
    const missing = '01932b5e-7c00-7000-9000-00000000ffff';
    const event = { type: 'note', daysAgo: 1, at: '08:00', photoIds: [missing] };
    write('garden.json', { ...garden, plants: [{ ...first, events: [event] }] });
    const { code, stderr } = await cli.run('seed', folder);
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^garden\\.json: plants\\[0\\].*${missing}`, 'm'));
  });

  test('a garden that exceeds a quota is not loaded, not even in part', async () => {
    const tight = new CommandLine(cli.mongodbUri, { TIER_PRO_PLANTS: '1', TIER_PRO_EVENTS: '2' });
    const { code, stdout, stderr } = await tight.run('seed');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim().split('\n')).toEqual([
      'garden.json: plants: 8 needed, but the pro tier leaves demo room for 1.',
      expect.stringMatching(
        /^garden\.json: events: \d+ needed, but the pro tier leaves demo room for 2\./,
      ),
    ]);
    expect(await cli.json('user', 'list')).toEqual([]);
  });

  test.each([
    ['that is not there', 'nowhere', /^The seed folder cannot be read: [^\n]+\.\n$/],
    ['without seeds', '.', /^There are no \.json files in /],
  ])('a folder %s is reported in one sentence', async (_what, name, message) => {
    const { code, stdout, stderr } = await cli.run('seed', path.join(folder, name));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test.each<[string, (file: string) => unknown, RegExp]>([
    [
      'a folder',
      (file) => {
        mkdirSync(file);
      },
      /^garden\.json: is not a regular file\n$/,
    ],
    ['a pipe', (file) => execFileSync('mkfifo', [file]), /^garden\.json: is not a regular file\n$/],
    [
      'a link to nowhere',
      (file) => {
        symlinkSync('nowhere', file);
      },
      /^garden\.json: cannot be read: ENOENT: [^\n]+\n$/,
    ],
  ])('a seed that is %s is reported in one sentence', async (_what, make, message) => {
    make(path.join(folder, 'garden.json'));
    const { code, stdout, stderr } = await cli.run('seed', folder);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('invisible characters are escaped, even in file names', async () => {
    write('a\u001b[2J\nb.json', {});
    write('garden.json', { ...ownGarden(), user: 'de\u202emo', 'colour\u0007': 1 });
    const { code, stderr } = await cli.run('seed', folder);
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(/^a<U\+001B>\[2J<U\+000A>b\.json: no plugin loads this file/),
      'garden.json: user must not contain the invisible character U+202E',
      'garden.json: colour<U+0007> is not allowed',
    ]);
  });

  test('an announcement that ends before it begins is a fault', async () => {
    const [begin, end] = ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00+01:00'];
    write('announcements.json', [announcement(begin, end), announcement(end, begin)]);
    const { code, stderr } = await cli.run('seed', folder);
    expect([code, stderr]).toEqual([
      1,
      'announcements.json: [1] must not have an endDate before its startDate\n',
    ]);
    write('announcements.json', [
      announcement(begin, end),
      announcement(begin, begin),
      announcement(null, begin),
      announcement(end, null),
    ]);
    expect(await cli.json('seed', folder)).toEqual({ announcements: 4 });
  });

  test('a file that is not JSON is reported', async () => {
    write('garden.json', '{ "user": ');
    const { code, stderr } = await cli.run('seed', folder);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^garden\.json: is not valid JSON: /);
  });

  test('seeds are validated as strictly as requests', async () => {
    writeFileSync(path.join(folder, 'announcements.json'), Buffer.from('["\xff\xfe"]', 'latin1'));
    write('garden.json', '{"user": "eve", "__proto__": {}}');
    const { code, stderr } = await cli.run('seed', folder);
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toEqual([
      'announcements.json: is not valid UTF-8',
      'garden.json: must not contain the keys __proto__ or constructor',
    ]);
  });

  test('duplicate ids of photos are reported, regardless of case', async () => {
    const id = randomUUID();
    const photo = {
      id,
      imagehostPublicId: 'fern',
      secureUrl: 'https://images.example.com/fern.jpg',
      width: 1,
      height: 1,
      format: 'jpg',
    };
    write('garden.json', {
      user: 'eve',
      tier: 'free',
      timezone: 'UTC',
      plants: [
        { name: 'Fern', photos: [photo] },
        { name: 'Ivy', photos: [{ ...photo, id: id.toUpperCase() }] },
      ],
    });
    const { code, stderr } = await cli.run('seed', folder);
    expect([code, stderr]).toEqual([
      1,
      `garden.json: plants must not have two photos with the id ${id}\n`,
    ]);
  });
});
