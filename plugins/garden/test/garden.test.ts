import { createECDH, randomBytes, randomUUID } from 'node:crypto';

import { startService } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { Browser, PASSWORD, person } from '../../../test/support/signed-in';
import { bodyOf } from '../../../test/support/bodies';
import { type Gardener, gardener, newsOf, textOf } from './gardener';

let service: TestService;
let ada: Gardener;
beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  ada = await gardener(service);
});
afterAll(() => service.close());

const DAY_MS = 86_400_000;

/** A plant that was watered some days ago, which it needs every week. */
async function plant(name: string, daysAgo = 8, fields: object = {}) {
  const made = await ada.plant({ name, wateringFrequencyDays: 7, ...fields });
  const occurredAt = new Date(Date.now() - daysAgo * DAY_MS).toISOString();
  await ada.post(`/api/plants/${made.id}/events`, { type: 'watered', occurredAt }).expect(201);
  return made;
}

async function eventsOf(id: string): Promise<{ id: string; type: string; text: string | null }[]> {
  const { items } = (await ada.get(`/api/plants/${id}/events`).expect(200)).body as {
    items: { id: string; type: string; text: string | null }[];
  };
  return items;
}

test('who is not signed in signs in first, and comes back', async () => {
  const { name } = await person(service);
  const { id } = await plant('Fern');
  for (const path of ['/garden', `/garden/${id}`]) {
    const browser = new Browser(service.url);
    const page = await browser.go(path);
    expect(page.url.pathname + page.url.search).toBe(`/sign-in?return=${path}`);
    const back = await browser.submit(page, { name, password: PASSWORD });
    expect(back.url.pathname).toBe(path);
  }
});

test('due care is shown, oldest first, with what comes next if there is none', async () => {
  await plant('Fern', 1);
  expect(textOf(await ada.open())).toContain('Nothing is due today. Next: Water Fern , in 6 days.');
  await plant('Basil', 8, { location: 'Kitchen' });
  await plant('Aloe', 10);
  expect(textOf(await ada.open())).toMatch(
    /To do \(2\).*Water Aloe due 3 days ago.*Water Basil due yesterday · Kitchen/,
  );
});

test('Done logs the care, says so first, and Undo takes it back', async () => {
  const { id } = await plant('Fern');
  const done = await ada.press(await ada.open(), 'done');
  expect(newsOf(done)).toBe('Watered: Fern');
  expect(done.text).toContain('<title>Watered: Fern – Your garden');
  expect(textOf(done)).toContain('Nothing is due today.');
  expect(await eventsOf(id)).toHaveLength(2);
  const undone = await ada.press(done, 'undo');
  expect(newsOf(undone)).toBe('Removed from the log.');
  expect(textOf(undone)).toContain('Water Fern due yesterday');
  expect(await eventsOf(id)).toHaveLength(1);
  const restored = await ada.press(undone, 'restore');
  expect(newsOf(restored)).toBe('Watered: Fern');
  expect(await eventsOf(id)).toHaveLength(2);
});

/** What a browser returns when it subscribes at its push service. */
function subscription(auth = randomBytes(16).toString('base64url')): string {
  const keys = createECDH('prime256v1');
  const p256dh = keys.generateKeys().toString('base64url');
  const endpoint = `https://push.example.com/${randomUUID()}`;
  return JSON.stringify({ endpoint, expirationTime: null, keys: { p256dh, auth } });
}

test('a browser is reminded, once however often it asks, also if the person had none', async () => {
  await ada.patch('/api/account', { remindAt: null }).expect(200);
  const page = await ada.open();
  const fields = { subscription: subscription() };
  for (const each of [fields, fields]) await ada.press(page, 'remind', { fields: each });
  const reminders = bodyOf(await ada.get('/api/account/reminders').expect(200))['items'];
  expect(reminders).toMatchObject([{ channel: 'push', active: true, garden: null }]);
  expect(bodyOf(await ada.get('/api/account').expect(200))['remindAt']).toBe('07:00');
});

test.each([
  [''],
  ['nonsense'],
  [subscription('AAAA')],
  ['{"endpoint":"https://push.example.com"}'],
])('what is no subscription sets no reminder: %s', async (given) => {
  const page = await ada.press(await ada.open(), 'remind', { fields: { subscription: given } });
  expect(page.status).toBe(400);
  expect(textOf(page)).toContain('so nothing was changed.');
  expect(bodyOf(await ada.get('/api/account/reminders').expect(200))['items']).toEqual([]);
});

test('the button for reminders is hidden without scripts', async () => {
  const { text, headers } = await ada.open();
  expect(text).toMatch(/<div id="device"[^>]* hidden>/);
  expect(headers.get('Content-Security-Policy')).toContain("script-src 'self'");
});

test('a form that is sent twice, one after the other or at once, logs once', async () => {
  const { id } = await plant('Fern');
  const page = await ada.open();
  const both = await Promise.all([ada.press(page, 'done'), ada.press(page, 'done')]);
  for (const each of [...both, await ada.press(page, 'done')]) {
    expect(newsOf(each)).toBe('Watered: Fern');
  }
  expect(await eventsOf(id)).toHaveLength(2);
  const other = await ada.press(page, 'skip');
  expect(other.status).toBe(400);
  expect(textOf(other)).toContain('This form was sent already.');
});

test.each([
  ['snooze', /Fern – Water: tomorrow/],
  ['skip', /Fern – Water: in 7 days/],
])('%s puts care off, and Undo takes it back', async (action, news) => {
  const { id } = await plant('Fern');
  const put = await ada.press(await ada.open(), action);
  expect(newsOf(put)).toMatch(news);
  expect(textOf(put)).toContain('Nothing is due today.');
  expect(textOf(await ada.press(put, 'unsnooze'))).toContain('Water Fern due yesterday');
  expect(await eventsOf(id)).toHaveLength(1);
});

test('care that was done elsewhere meanwhile is not put off', async () => {
  const { id } = await plant('Fern');
  const page = await ada.open();
  await ada.post('/api/care/done', { plantId: id, type: 'watered' }).expect(201);
  expect(newsOf(await ada.press(page, 'skip'))).toBe('Fern – Water: in 7 days');
});

test('all plants that need water are done with one button, and undone with one', async () => {
  const ids = [];
  for (const name of ['Aloe', 'Basil', 'Cress', 'Dill', 'Fern']) ids.push((await plant(name)).id);
  const done = await ada.press(await ada.open(), 'done', { of: 'All watered (5)' });
  expect(newsOf(done)).toBe('Watered: Aloe, Basil, Cress and 2 more');
  await ada.press(done, 'undo');
  for (const id of ids) expect(await eventsOf(id)).toHaveLength(1);
});

test('care of a schedule is done by its schedule', async () => {
  const { id } = await ada.plant({ name: 'Fern' });
  const body = { care: 'other', label: 'Mist', everyDays: 3 };
  await ada.post(`/api/plants/${id}/schedules`, body).expect(201);
  const page = await ada.open();
  expect(textOf(page)).toContain('Mist Fern due today');
  expect(newsOf(await ada.press(page, 'done'))).toBe('Note: Fern');
  expect(await eventsOf(id)).toMatchObject([{ type: 'note', text: 'Mist' }]);
});

test('the log has the last seven days, with the names of archived plants too, and Undo', async () => {
  const { id } = await plant('Fern', 6);
  await plant('Old fern', 8);
  await ada.post(`/api/plants/${id}/archive`, { reason: 'died' }).expect(200);
  const page = await ada.open();
  const [, log = ''] = /Last seven days(.*)Plants \(1\)/.exec(textOf(page)) ?? [];
  expect(log).toMatch(/Watered Fern \d\d:\d\d/);
  expect(log).not.toContain('Old fern');
  await ada.press(page, 'undo', { of: 'Watered Fern' });
  expect(await eventsOf(id)).toEqual([]);
});

test('plants come in pages by name, and a search finds them', async () => {
  const names = Array.from({ length: 30 }, (_, at) => `Plant ${String(at).padStart(2, '0')}`);
  for (const name of names) await ada.plant({ name });
  const first = await ada.open();
  const shown = (page: { text: string }) => names.filter((name) => page.text.includes(`>${name}<`));
  expect(shown(first)).toEqual(names.slice(0, 24));
  const [, next = ''] = /href="(\?plants=[^"]*)"/.exec(first.text) ?? [];
  expect(shown(await ada.open(`/garden${next}`))).toEqual(names.slice(24));
  expect(shown(await ada.open('/garden?q=PLANT%2007'))).toEqual(['Plant 07']);
});

test('a plant is added on an empty page, and its own page follows', async () => {
  const page = await ada.open();
  expect(textOf(page)).toContain('No plants yet.');
  const fields = { name: ' Fern ', location: 'Hall', everyDays: '5' };
  const added = await ada.press(page, 'add', { fields });
  expect(added.url.pathname).toMatch(/^\/garden\/[\w-]{36}$/);
  expect(textOf(added)).toMatch(/^Fern Hall.*Water due today every 5 days/);
  const refused = await ada.press(await ada.open(), 'add', { fields: { ...fields, name: '' } });
  expect(refused.status).toBe(400);
  expect(textOf(refused)).toContain('That is not possible as things stand');
});

test('the page of a plant has its care, schedules, events and both pictures in words', async () => {
  const { id } = await plant('Fern', 1, { species: 'Nephrolepis', careNotes: 'Keep it moist.' });
  const schedule = {
    care: 'fertilized',
    weekdays: ['mon', 'thu'],
    months: [3, 4],
    seasons: [{ from: '03-10', to: '03-20', everyDays: 0 }],
  };
  await ada.post(`/api/plants/${id}/schedules`, schedule).expect(201);
  const ofMonth = { weekdays: ['1mon', '-1fri'] };
  const dated = { monthDays: [1, -1] };
  for (const rule of [ofMonth, dated]) {
    const body = { care: 'other', label: 'Mist', ...rule };
    await ada.post(`/api/plants/${id}/schedules`, body).expect(201);
  }
  const growth = { type: 'growth', growthAmount: 4.5, growthUnit: 'cm', text: 'A new leaf' };
  await ada.post(`/api/plants/${id}/events`, growth).expect(201);
  const page = await ada.open(`/garden/${id}`);
  const text = textOf(page);
  expect(text).toContain('Nephrolepis');
  expect(text).toContain('Keep it moist.');
  expect(text).toMatch(/Water due in 6 days every 7 days/);
  expect(text).toContain('on Monday and Thursday, only in March and April, Mar 10 – Mar 20: none');
  expect(text).toContain('on the first Monday of the month and the last Friday of the month');
  expect(text).toContain('on these days of the month: 1 and the last');
  expect(text).toMatch(/Growth \S+ \S+ \S+ \d\d:\d\d · 4.5 cm · A new leaf/);
  expect(text).toContain('Days with care: 1. Watered: 1');
  expect(text).toMatch(/Growth .* \p{L}+ 4\.5 cm$/u);
  expect(
    page.text.match(/<rect class="watered"[^>]*><title>[^<]*: Watered<\/title>/g),
  ).toHaveLength(1);
});

test('a note is written on the page of a plant', async () => {
  const { id } = await plant('Fern', 1);
  const page = await ada.open(`/garden/${id}`);
  const noted = await ada.press(page, 'note', { fields: { text: 'Two <new> leaves' } });
  expect(newsOf(noted)).toBe('Note: Fern');
  expect(noted.text).toContain('Two &lt;new&gt; leaves');
  expect(textOf(await ada.press(noted, 'undo'))).not.toContain('leaves');
});

test('a plant that was deleted meanwhile is a sentence on the page', async () => {
  const { id } = await plant('Fern');
  const [garden, own] = [await ada.open(), await ada.open(`/garden/${id}`)];
  await ada.delete(`/api/plants/${id}`).expect(200);
  const gone = 'That plant or entry is no longer there. Nothing was changed.';
  for (const answer of [
    await ada.press(garden, 'done'),
    await ada.press(garden, 'snooze'),
    await ada.press(own, 'done'),
    await ada.press(own, 'undo'),
    await ada.open(`/garden/${id}`),
    await ada.open('/garden/nothing'),
  ]) {
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.text).toContain('<title>Error: ');
    expect(textOf(answer)).toContain(gone);
  }
});

test('nobody sees or changes what is of somebody else', async () => {
  const { id } = await plant('Fern');
  const page = await ada.open();
  const eve = await gardener(service);
  expect((await eve.open(`/garden/${id}`)).status).toBe(404);
  const [event] = await eventsOf(id);
  expect(textOf(await eve.open(`/garden?did=${event?.id ?? ''}&put=${id}.watered`))).not.toContain(
    'Fern',
  );
  expect((await eve.press(page, 'done')).status).toBe(403);
  expect(await eventsOf(id)).toHaveLength(1);
});

test('a budget that is spent is a sentence on the page, which still shows the garden', async () => {
  const strict = await startService({ env: { RATE_LIMIT_WRITES_MAX: '1' } });
  try {
    ada = await gardener(strict);
    const { id } = await ada.plant({ name: 'Fern', wateringFrequencyDays: 7 });
    expect(id).toBeDefined();
    await ada.press(await ada.open(), 'done');
    const refused = await ada.press(await ada.open(), 'undo');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).toMatch(/^\d+$/);
    expect(textOf(refused)).toMatch(/Too many changes at once.*Watered Fern/);
  } finally {
    await strict.close();
  }
});

test('a form from elsewhere is refused', async () => {
  await plant('Fern');
  const page = await ada.open();
  const refused = await ada.press(page, 'done', { headers: { Origin: 'https://evil.example' } });
  expect(refused.status).toBe(403);
  const forged = new URLSearchParams({ action: 'done', key: randomUUID() });
  expect((await ada.browser.go('/garden', { method: 'POST', body: forged })).status).toBe(403);
});

test('pages run their own script alone, load only photos from elsewhere, and can be installed', async () => {
  const { id } = await ada.plant({ name: 'Fern' });
  const photo = (secureUrl: string) => ({
    imagehostPublicId: 'fern',
    secureUrl,
    width: 600,
    height: 800,
    format: 'jpg',
    plantId: id,
  });
  const url = 'https://images.example.com/fern.jpg';
  const shot = (await ada.post('/api/photos', photo(url)).expect(201)).body as { id: string };
  await ada.patch(`/api/plants/${id}`, { primaryPhotoId: shot.id }).expect(200);
  for (const [path, script, source] of [
    ['/garden', '<script src="/garden.js" defer></script>', "; script-src 'self'"],
    [`/garden/${id}`, '', ''],
  ] as const) {
    const page = await ada.open(path);
    expect(page.text).toContain(`src="${url}"`);
    expect(page.text.replace(script, '')).not.toMatch(/<script|style=| on\w+=/);
    expect(page.headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self' https:; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'; worker-src 'self'; form-action 'self'" +
        source,
    );
    expect(page.headers.get('Cache-Control')).toBe('no-store');
    const [, manifest = ''] = /rel="manifest" href="([^"]*)"/.exec(page.text) ?? [];
    const found = await fetch(service.url + manifest);
    expect(found.headers.get('Content-Type')).toContain('application/manifest+json');
    expect(await found.json()).toMatchObject({ start_url: '/garden', display: 'standalone' });
  }
  await ada.patch(`/api/photos/${shot.id}`, { x: 1, y: 2, width: 90, height: 90 }).expect(200);
  expect((await ada.open()).text).toContain('viewBox="1 2 90 90"');
  const plain = (await ada.post('/api/photos', photo('http://images.example.com/f.jpg'))).body as {
    id: string;
  };
  await ada.patch(`/api/plants/${id}`, { primaryPhotoId: plain.id }).expect(200);
  expect((await ada.open()).text).not.toContain('images.example.com');
});

test('the pages are in French on request, and escape names', async () => {
  await plant('<Fougère>', 10);
  const page = await ada.open('/garden', { 'Accept-Language': 'fr' });
  expect(page.text).toContain('<html lang="fr">');
  expect(page.text).toContain('&lt;Fougère&gt;');
  expect(textOf(page)).toContain('Arroser &lt;Fougère&gt; prévu il y a 3 jours');
  const headers = { 'Accept-Language': 'fr' };
  const { url } = await ada.press(page, 'done', { headers, follow: false });
  expect(newsOf(await ada.open(url.pathname + url.search, headers))).toBe(
    'Arrosée : &lt;Fougère&gt;',
  );
});

test('a request is no tool call', async () => {
  const metrics = async () => (await service.anonymous.get('/metrics').expect(200)).text;
  const calls = (text: string) => text.match(/^.*tool="complete_care".*$/gm);
  await plant('Fern');
  const before = await metrics();
  await ada.press(await ada.open(), 'done');
  const after = await metrics();
  expect(after).toMatch(/operation="POST \/garden",status="303"/);
  expect(calls(after)).toEqual(calls(before));
});
