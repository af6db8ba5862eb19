import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { addDays } from '../../src/core/time';
import { authorize } from '../../plugins/oauth/test/support/program';
import { HostileNetwork } from '../support/hostile-network';
import { until } from '../support/processes';
import { startService } from '../support/program';
import type { TestService, TestUser } from '../support/service';
import { bodyOf } from '../support/shapes';
import { Browser, person } from '../support/signed-in';
import { HomeAssistant } from './home-assistant';

const TODO = 'todo.plant_care_to_do';
const SENSOR = 'sensor.plant_care_due';
const CALENDAR = 'calendar.plant_care_care';

/** Its packages are many. */
const INSTALL_MS = 1_800_000;

let folder: string;
let service: TestService;
let network: HostileNetwork;
let user: TestUser;
let home: HomeAssistant;
let plantId: string;
let today: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'home-assistant-'));
  const env = { WEBHOOK_ALLOW_PRIVATE: 'true' };
  service = await startService({ env, jobs: true });
  network = await HostileNetwork.before(service.url);
  user = await service.user({ timezone: 'UTC' });
  ({ id: plantId } = await user.plant({ name: 'Fern', wateringFrequencyDays: 7 }));
  await user.post(`/api/plants/${plantId}/schedules`, { care: 'fertilized', everyDays: 30 });
  today = String(bodyOf(await user.get('/api/care').expect(200))['today']);
  home = await HomeAssistant.start(folder);
  await signIn(await home.step(undefined, { handler: 'plant_care' }));
}, INSTALL_MS);
afterAll(async () => {
  await home.stop();
  await network.close();
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Goes through the steps of a set-up, in the browser too; returns the last. */
async function signIn({ flow_id: flow }: { flow_id: string }): Promise<object> {
  const { url } = await home.step(flow, { url: `${network.url}/garden` });
  if (url === undefined) throw new Error('It did not open a browser.');
  const page = await authorize(
    new Browser(service.url),
    new URL(url),
    await person(service, user.id),
  );
  expect((await fetch(page.url)).status).toBe(200);
  return home.step(flow, {});
}

function tick(item: string, status: 'completed' | 'needs_action') {
  return home.send('POST', '/api/services/todo/update_item', { entity_id: TODO, item, status });
}

async function reminders(): Promise<unknown> {
  return bodyOf(await user.get('/api/account/reminders').expect(200))['items'];
}

/** Loses the next answers with new reminders; returns how many are still to be lost. */
function loseNewReminders(count: number): () => number {
  let left = count;
  network.onRequest = ({ method, url }) => {
    if (left === 0 || method !== 'POST' || url !== '/api/account/reminders') return undefined;
    left -= 1;
    return 'response lost';
  };
  return () => left;
}

async function logged(): Promise<unknown> {
  return bodyOf(await user.get('/api/events').expect(200))['items'];
}

test('an address that is none, that nobody serves, and one without a sign-in are told apart', async () => {
  const { flow_id: flow } = await home.step(undefined, { handler: 'plant_care' });
  const errorOf = async (url: string) => (await home.step(flow, { url })).errors;
  expect(await errorOf('plants')).toEqual({ url: 'invalid_url' });
  expect(await errorOf('http://127.0.0.1:1')).toEqual({ url: 'cannot_connect' });
  expect(await errorOf(home.url)).toEqual({ url: 'no_sign_in' });
});

test('an account is set up once', async () => {
  const flow = await home.step(undefined, { handler: 'plant_care' });
  expect(await signIn(flow)).toMatchObject({ type: 'abort', reason: 'already_configured' });
});

test('due care is a list, whose ticks log it, and a number', async () => {
  const water = { summary: 'Water Fern', status: 'needs_action', due: today };
  await until(async () => (await home.state(SENSOR)) === '2');
  const [first, second] = await home.items(TODO);
  expect([first, second]).toMatchObject([water, { ...water, summary: 'Feed Fern' }]);
  await tick('Water Fern', 'completed');
  expect(await logged()).toMatchObject([{ type: 'watered', plantId }]);
  expect(await home.items(TODO)).toMatchObject([
    { summary: 'Feed Fern' },
    { ...water, status: 'completed' },
  ]);
  expect(await home.state(SENSOR)).toBe('1');
  await tick('Water Fern', 'needs_action');
  expect(await logged()).toEqual([]);
  expect(await home.items(TODO)).toEqual([first, second]);
});

test('the calendar shows care to come', async () => {
  const range = new URLSearchParams({
    start: `${today}T00:00:00Z`,
    end: `${addDays(today, 15)}T00:00:00Z`,
  });
  const events = await home.send<{ summary: string; start: { date: string } }[]>(
    'GET',
    `/api/calendars/${CALENDAR}?${range.toString()}`,
  );
  expect(events.map(({ summary, start }) => [summary, start.date])).toEqual([
    ['Water Fern', today],
    ['Feed Fern', today],
    ['Water Fern', addDays(today, 7)],
    ['Water Fern', addDays(today, 14)],
  ]);
});

test('what is changed elsewhere is seen at once', async () => {
  await user.post('/api/care/done', { plantId, type: 'watered' }).expect(201);
  await until(async () => (await home.state(SENSOR)) === '1');
});

test('the reminder of the day is an event for automations', async () => {
  const [{ id }] = (await reminders()) as [{ id: string }];
  const heard = await home.hear('plant_care_due', () =>
    user.post(`/api/account/reminders/${id}/test`).expect(200),
  );
  expect(heard).toMatchObject({ today });
});

test('a message that the server did not send is refused', async () => {
  const { webhook_id: hook } = await home.kept();
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': 'v1,AAAA é',
  };
  const forged = (given: object) =>
    fetch(`${home.url}/api/webhook/${hook}`, { method: 'POST', body: '{}', headers: { ...given } });
  expect((await forged({})).status).toBe(401);
  expect((await forged(headers)).status).toBe(401);
  expect((await forged({ ...headers, 'webhook-timestamp': '1' })).status).toBe(401);
});

// It asks twice, with the same key, at each start.
test.each([1, 2, 3])(
  'when %i answers with a new reminder are lost, one is set in the end, whose secret is known',
  async (lost) => {
    const [{ id }] = (await reminders()) as [{ id: string }];
    await user.delete(`/api/account/reminders/${id}`).expect(200);
    const left = loseNewReminders(lost);
    const entry = await home.entry();
    await home.send('POST', `${entry}/reload`);
    await home.send('POST', `${entry}/reload`);
    expect(left()).toBe(0);
    const set = (await reminders()) as { id: string }[];
    expect(set).toMatchObject([{ channel: 'url', active: true, problem: null }]);
    const test = `/api/account/reminders/${set[0]?.id ?? ''}/test`;
    const sent = await home.hear('plant_care_due', () => user.post(test).expect(200));
    expect(sent).toMatchObject({ today });
  },
);

test('when it is taken away, the reminder and the app are gone', async () => {
  await home.send('DELETE', await home.entry());
  expect(await reminders()).toEqual([]);
});

test('when it is taken away before it knows its reminder, that is gone too', async () => {
  const left = loseNewReminders(2);
  await signIn(await home.step(undefined, { handler: 'plant_care' }));
  expect(left()).toBe(0);
  expect(await reminders()).toHaveLength(1);
  await home.send('DELETE', await home.entry());
  expect(await reminders()).toEqual([]);
});
