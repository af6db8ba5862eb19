import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { startService } from '../support/program';
import type { TestService, TestUser } from '../support/service';
import { inviteTo } from '../support/signed-in';

const run = promisify(execFile);

/** Drives a browser, which `make test-clients` installs. */
const GARDEN = path.join(__dirname, 'garden.mjs');
/** The longest name. */
const NAME = `${'Philodendron '.repeat(7)}in a pot`;
const PLANTS = 500;

const DEVICE = path.join(__dirname, 'device.mjs');

/** The findings of a person. */
interface Visit {
  /** Whether each thumbnail was loaded. */
  loaded: boolean[];
  done: string;
  title: string;
  undone: string;
  later: string;
  /** How much care is due before and after it was clicked twice. */
  before: number;
  after: number;
  /** What the pictures say to those who do not see them. */
  pictures: string[];
  /** What a screen reader reads. */
  tree: string;
  /** Errors of the page or the browser, and accessibility problems. */
  faults: string[];
}

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT_PLANTS_CREATE_MAX: '1000' } });
});
afterAll(() => service.close());

async function visit(
  user: TestUser,
  [width, locale, scheme]: [string, string, string],
  script = GARDEN,
): Promise<unknown> {
  const url = service.url.replace('127.0.0.1', 'localhost');
  const screenshots = process.env['SCREENSHOTS'] ?? '';
  const options = [url, await inviteTo(service, user.id), width, locale, scheme, screenshots];
  const { stdout } = await run(process.execPath, [script, ...options]);
  return JSON.parse(stdout);
}

/** A plant with a photo and a history, which needs water today. */
async function plantOf(user: TestUser, name: string): Promise<void> {
  const { id } = await user.plant({ name, wateringFrequencyDays: 3, location: 'Winter garden' });
  const photo = {
    imagehostPublicId: 'fern',
    secureUrl: 'https://images.example.com/fern.jpg',
    width: 4,
    height: 3,
    format: 'jpg',
    plantId: id,
  };
  const shot = (await user.post('/api/photos', photo).expect(201)).body as { id: string };
  await user.patch(`/api/plants/${id}`, { primaryPhotoId: shot.id }).expect(200);
  const growth = { type: 'growth', growthAmount: 2, growthUnit: 'cm' };
  await user.post(`/api/plants/${id}/events`, growth).expect(201);
}

test.each([
  ['on a phone', '390', 'en-GB', 'light'],
  ['on a phone, in French and the dark', '390', 'fr-FR', 'dark'],
  ['at a desk', '1100', 'en-GB', 'dark'],
  ['at a desk, in French', '1100', 'fr-FR', 'light'],
])(
  'a person looks after plants with the keyboard alone, %s',
  async (_where, width, locale, scheme) => {
    const user = await service.user();
    for (const name of [NAME, 'Fern', 'Aloe']) await plantOf(user, name);
    const found = (await visit(user, [width, locale, scheme])) as Visit;
    expect(found.faults).toEqual([]);
    expect(found.loaded).toEqual([true, true, true]);
    expect(found.done).toContain(NAME);
    expect(found.title).toContain(found.done);
    expect(found.undone).toMatch(/^(Removed from|Retiré du)/);
    expect(found.later).toMatch(/(tomorrow|demain)$/);
    expect(found.after).toBe(found.before - 1);
    expect(found.pictures).toEqual([expect.any(String), expect.stringMatching(/ 2 cm$/)]);
    expect(found.tree).toMatch(
      /- banner:[^]*- main:[^]*- heading "[^"]*" \[level=1\][^]*- region "/,
    );
  },
);

test('a garden of 500 plants without photos is as usable', async () => {
  const user = await service.user();
  for (let made = 0; made < PLANTS; made += 1) {
    await user.plant({ name: `${String(made)} ${NAME}`.slice(0, 100), wateringFrequencyDays: 3 });
  }
  const found = (await visit(user, ['390', 'en-GB', 'light'])) as Visit;
  expect(found.faults).toEqual([]);
  expect([found.before, found.after]).toEqual([50, 50]);
});

test.each([
  ['on a phone', '390', 'en-GB', 'light'],
  ['at a desk, in the dark', '1100', 'en-GB', 'dark'],
])('a browser reminds a person, %s', async (_where, width, locale, scheme) => {
  const user = await service.user();
  await user.plant({ name: NAME, wateringFrequencyDays: 3 });
  const found = await visit(user, [width, locale, scheme], DEVICE);
  const button = 'Remind me on this device';
  expect(found).toEqual({
    before: button,
    refused: expect.stringMatching(
      /^Remind me on this device This browser does not allow/,
    ) as string,
    on: 'This device reminds you of due care. Stop',
    focused: 'device',
    shown: {
      title: 'A plant needs care',
      body: 'Fern',
      data: expect.stringMatching(/\/garden$/) as string,
      opened: expect.stringMatching(/\/garden$/) as string,
    },
    off: button,
    withoutScripts: false,
    faults: [],
  });
  const { items } = (await user.get('/api/account/reminders').expect(200)).body as {
    items: object[];
  };
  expect(items).toMatchObject([{ channel: 'push', active: true }]);
});
