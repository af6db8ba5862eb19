import { record, records } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';
import { letIn } from '../../../test/support/sharing';
import { Browser, type Page } from './support/browser';
import { PASSWORD, person } from './support/people';

let service: TestService;
let ada: TestUser;
let browser: Browser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  ada = await service.user({ timezone: 'Pacific/Auckland' });
  await person(service, ada.id);
  browser = new Browser(service.url);
  await browser.submit(await browser.go('/sign-in'), { name: ada.id, password: PASSWORD });
});
afterEach(resetClock);
afterAll(() => service.close());

const DAY = 86_400_000;

async function members(): Promise<Record<string, unknown>[]> {
  return records(bodyOf(await ada.get('/api/account/members').expect(200))['items']);
}

/** Sends a form of the settings. */
async function send(action: string, fields: Record<string, string>): Promise<Page> {
  const [, csrf = ''] =
    /name="csrf" value="([^"]*)"/.exec((await browser.go('/settings')).text) ?? [];
  const body = new URLSearchParams({ action, csrf, ...fields });
  return browser.go('/settings', { method: 'POST', body });
}

/** What a page says. */
function textOf({ text }: Page): string {
  return text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

/** A day from now, in the time zone of the account. */
function day(days: number): string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: 'Pacific/Auckland' });
  return format.format(Date.now() + days * DAY);
}

test('an invitation is shown once, and lets the person in until the end of the day', async () => {
  const page = await send('inviteMember', { name: ' Ben ', role: 'gardener', until: day(7) });
  const [, url = ''] = /<code[^>]*>(http[^<]*\/join\?code=[^<]*)<\/code>/.exec(page.text) ?? [];
  const code = new URL(url).searchParams.get('code') ?? '';
  expect(page.text).toContain(`<code>${code}</code>`);
  expect((await browser.go('/settings')).text).not.toContain(code);
  const [member] = await members();
  expect(member).toMatchObject({ name: 'Ben', role: 'gardener', joinedAt: null });
  const until = new Date(String(member?.['until']));
  const zoned = until.toLocaleString('en-CA', { timeZone: 'Pacific/Auckland', hourCycle: 'h23' });
  expect(zoned).toBe(`${day(8)}, 00:00:00`);
  expect(textOf(page)).toContain('Gardener · until');
  expect(textOf(page)).toContain('invited, has not joined yet');
  const ben = await service.user();
  await ben.post('/api/gardens/join', { code }).expect(200);
  expect(textOf(await browser.go('/settings'))).toContain('never here yet');
});

test('a link for a sitter is shown once, and opens the garden', async () => {
  const page = await send('makeLink', { name: 'Cleo', until: day(7) });
  const [, url = ''] = /<code[^>]*>(http[^<]*\/sitter\/[^<]*)<\/code>/.exec(page.text) ?? [];
  const { pathname } = new URL(url);
  expect((await new Browser(service.url).go(pathname)).status).toBe(200);
  expect((await browser.go('/settings')).text).not.toContain(pathname);
  expect(textOf(page)).toContain('Sitter with a link');
});

test('a member is changed and removed; an end that is not touched does not move', async () => {
  const ben = await service.user();
  const until = new Date(Date.now() + 3 * DAY).toISOString();
  const id = await letIn(ada, ben, { role: 'viewer', until });
  const [, was = ''] =
    /name="was" value="([^"]*)"/.exec((await browser.go('/settings')).text) ?? [];
  const changed = await send('changeMember', { id, name: 'B', role: 'carer', was, until: was });
  expect(textOf(changed)).toContain('The change was saved.');
  expect(await members()).toMatchObject([{ id, name: 'B', role: 'carer', until }]);
  await send('changeMember', { id, name: 'B', role: 'carer', was, until: '' });
  expect(await members()).toMatchObject([{ until: null }]);
  const removed = await send('removeMember', { id });
  expect(textOf(removed)).toContain('can no longer open your garden');
  expect(await members()).toEqual([]);
  expect(textOf(await send('removeMember', { id }))).toContain('This does not exist any more.');
});

test('a person leaves the garden of another', async () => {
  const owner = await service.user();
  await letIn(owner, ada, { role: 'carer' });
  expect(textOf(await browser.go('/settings'))).toContain(`${owner.id} Carer`);
  const left = await send('leaveGarden', { id: owner.id });
  expect(textOf(left)).toContain('You have left the garden.');
  const { items } = bodyOf(await ada.get('/api/gardens').expect(200));
  expect(records(items).map((each) => record(each)['id'])).toEqual([ada.id]);
});

test.each([
  ['inviteMember', { name: '', role: 'carer', until: '' }],
  ['inviteMember', { name: 'x'.repeat(61), role: 'carer', until: '' }],
  ['inviteMember', { name: 'Ben', role: 'owner', until: '' }],
  ['inviteMember', { name: 'Ben', role: 'carer', until: '2020-01-01' }],
  ['inviteMember', { name: 'Ben', role: 'carer', until: '2026-13-45' }],
  ['inviteMember', { name: 'Ben', role: 'carer', until: 'tomorrow' }],
  ['makeLink', { name: 'Cleo', until: '' }],
  ['makeLink', { name: 'Cleo', until: day(95) }],
])('%s with %j is refused with a sentence, and keeps what was typed', async (action, fields) => {
  const page = await send(action, fields);
  expect([page.status, textOf(page).includes('Give a name of at most')]).toEqual([400, true]);
  if (fields.name === 'Ben') expect(page.text).toContain('value="Ben"');
  expect(await members()).toEqual([]);
});

test('nobody changes the members of another, or sends a form without a token', async () => {
  const [ben, owner] = [await service.user(), await service.user()];
  const id = await letIn(owner, ben);
  for (const action of ['removeMember', 'changeMember']) {
    const page = await send(action, { id, name: 'B', role: 'carer', was: '', until: '' });
    expect([page.status, textOf(page).includes('does not exist any more')]).toEqual([400, true]);
  }
  const body = new URLSearchParams({ action: 'inviteMember', name: 'Ben', role: 'carer' });
  expect((await browser.go('/settings', { method: 'POST', body })).status).toBe(403);
  expect(await members()).toEqual([]);
});

test('inviting needs a sign-in within the last hour; removing does not', async () => {
  const id = await letIn(ada, await service.user());
  setClock(Date.now() + 3_601_000);
  const again = await send('inviteMember', { name: 'Ben', role: 'carer', until: '' });
  expect(again.url.pathname).toBe('/sign-in');
  await send('removeMember', { id });
  resetClock();
  expect(await members()).toEqual([]);
});
