import { record, records } from '../../../test/support/client';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, listOf } from '../../../test/support/shapes';
import { letIn } from '../../../test/support/sharing';
import { Browser, PASSWORD } from '../../../test/support/signed-in';
import { type Gardener, gardener, newsOf, textOf } from './gardener';

let service: TestService;
let ada: TestUser;
let ben: Gardener;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  [ada, ben] = await Promise.all([service.user(), gardener(service)]);
});
afterAll(() => service.close());

/** A plant of Ada's that is due. */
async function plant(name = 'Fern'): Promise<string> {
  const { id } = await ada.plant({ name, wateringFrequencyDays: 7 });
  return id;
}

async function eventsOf(id: string): Promise<Record<string, unknown>[]> {
  return records(bodyOf(await ada.get(`/api/plants/${id}/events`).expect(200))['items']);
}

test('a person with several gardens chooses one on the page', async () => {
  await plant();
  await ben.plant({ name: 'Ivy' });
  expect((await ben.open()).text).not.toContain('/gardens/');
  await letIn(ada, ben, { role: 'carer' });
  await ada.patch('/api/account', { gardenName: 'Balcony' }).expect(200);
  const own = await ben.open();
  const [, to = ''] = /href="(\/gardens\/[^"]*)"/.exec(own.text) ?? [];
  expect(textOf(own)).toMatch(/Your garden Garden: Balcony/);
  const shared = await ben.open(to);
  expect(shared.text).toContain('<h1>Garden: Balcony</h1>');
  expect(textOf(shared)).toContain('You may log care in this garden.');
  expect([textOf(shared).includes('Fern'), textOf(shared).includes('Ivy')]).toEqual([true, false]);
  expect(shared.text).toContain('href="/garden"');
});

test('a carer logs care there under their name, and is led back there', async () => {
  const id = await plant();
  const member = await letIn(ada, ben, { name: 'Ben', role: 'carer' });
  const path = `/gardens/${ada.id}`;
  const page = await ben.open(path);
  expect(page.text).not.toContain('value="add"');
  const done = await ben.press(page, 'done');
  expect(done.url.pathname).toBe(path);
  expect(newsOf(done)).toBe('Watered: Fern');
  expect(await eventsOf(id)).toMatchObject([{ by: { id: member, name: 'Ben' } }]);
  expect(textOf(done)).toContain('by Ben');
  const own = await ben.open(`${path}/${id}`);
  const noted = await ben.press(own, 'note', { fields: { text: 'Two leaves' } });
  expect(noted.url.pathname).toBe(`${path}/${id}`);
  // Forms know nothing of the buttons that are not shown.
  const forged = await ben.press(page, 'done', { fields: { action: 'add', name: 'Ivy' } });
  expect(forged.status).not.toBe(404);
  expect(listOf(await ada.get('/api/plants').expect(200))).toHaveLength(1);
});

test('a viewer has no buttons, and a form that is made up is refused', async () => {
  const id = await plant();
  const member = await letIn(ada, ben, { role: 'carer' });
  const path = `/gardens/${ada.id}`;
  const before = await ben.open(path);
  await ada.patch(`/api/account/members/${member}`, { role: 'viewer' }).expect(200);
  for (const at of [path, `${path}/${id}`]) {
    const page = await ben.open(at);
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('method="post"');
  }
  const refused = await ben.press(before, 'done');
  expect(refused.status).toBe(403);
  expect(textOf(refused)).toContain('In this garden you may not do that.');
  expect(await eventsOf(id)).toEqual([]);
});

test('a gardener adds plants to the garden of the other', async () => {
  await letIn(ada, ben, { role: 'gardener' });
  const fields = { name: 'Ivy', location: '', everyDays: '' };
  const added = await ben.press(await ben.open(`/gardens/${ada.id}`), 'add', { fields });
  expect(added.url.pathname).toMatch(new RegExp(`^/gardens/${ada.id}/[\\w-]{36}$`));
  const [made] = listOf(await ada.get('/api/plants').expect(200));
  expect(made).toMatchObject({ name: 'Ivy', userId: ada.id });
});

test('who is not, or no longer, let in gets a sentence', async () => {
  const id = await plant();
  const member = await letIn(ada, ben, { role: 'carer' });
  const path = `/gardens/${ada.id}`;
  const page = await ben.open(path);
  await ada.delete(`/api/account/members/${member}`).expect(200);
  for (const answer of [
    await ben.open(path),
    await ben.open(`${path}/${id}`),
    await ben.press(page, 'done'),
    await ben.open('/gardens/nobody'),
  ]) {
    expect([answer.status, answer.text.includes('no longer, open to you')]).toEqual([404, true]);
  }
  expect(await eventsOf(id)).toEqual([]);
});

test('a form whose end arrives when the membership is over changes nothing', async () => {
  const id = await plant();
  const member = await letIn(ada, ben, { role: 'carer' });
  const page = await ben.open(`/gardens/${ada.id}`);
  const late = () => ada.delete(`/api/account/members/${member}`).expect(200);
  const answer = await ben.press(page, 'done', { late });
  expect([answer.status, answer.text.includes('no longer, open to you')]).toEqual([404, true]);
  expect(await eventsOf(id)).toEqual([]);
});

test('after signing in a person comes back to the shared garden, whatever its owner is called', async () => {
  const owner = await service.user({ id: `吉田 ${ada.id}` });
  await letIn(owner, ben);
  const path = `/gardens/${encodeURIComponent(owner.id)}`;
  const browser = new Browser(service.url);
  const page = await browser.go(path);
  const back = await browser.submit(page, { name: ben.id, password: PASSWORD });
  expect([back.status, back.url.pathname]).toEqual([200, path]);
  const own = await ben.open(`/gardens/${ben.id}`);
  expect(own.text).toContain('<h1>Your garden</h1>');
});

test('the log of acts has what a member did on the pages under their account, with the garden', async () => {
  const id = await plant();
  await letIn(ada, ben, { role: 'carer' });
  const done = await ben.press(await ben.open(`/gardens/${ada.id}`), 'done');
  await ben.press(done, 'undo');
  const acts = [];
  for await (const batch of service.app.audit.entries({ userId: ada.id })) acts.push(...batch);
  expect(acts.filter(({ actor }) => record(actor)['account'] === ben.id)).toEqual([]);
  expect(await eventsOf(id)).toEqual([]);
});
