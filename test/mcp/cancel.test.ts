import { DAY_MS } from '../../src/core/time';
import type { TestService } from '../support/service';
import { type Assistant, assistant, listTools, refused, tool } from './support';
import { startService } from '../support/program';

let service: TestService;
let me: Assistant;
let watered: { plantId: string; type: string };

const until = new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10);

beforeAll(async () => {
  service = await startService();
  me = await assistant(service);
});
beforeEach(async () => {
  const { id } = await me.user.plant({ wateringFrequencyDays: 3 });
  watered = { plantId: id, type: 'watered' };
});
afterAll(() => service.close());

test('snooze_care with cancel removes a snooze', async () => {
  expect(await tool(me, 'snooze_care', { ...watered, until })).toMatchObject({
    snoozedUntil: until,
  });
  expect(await tool(me, 'snooze_care', { ...watered, cancel: true })).toMatchObject({
    snoozedUntil: null,
  });
});

test('omitted arguments may be sent as null or false, as frameworks do', async () => {
  for (const cancel of [null, false]) {
    const item = await tool(me, 'snooze_care', { ...watered, until, cancel });
    expect(item).toMatchObject({ snoozedUntil: until });
  }
  const item = await tool(me, 'snooze_care', { ...watered, until: null, cancel: true });
  expect(item).toMatchObject({ snoozedUntil: null });
});

test('cancel and until exclude each other, and one is required', async () => {
  expect(await refused(me, 'snooze_care', { ...watered, until, cancel: true })).toMatch(
    /\bcancel\b/,
  );
  expect(await refused(me, 'snooze_care', { ...watered, cancel: 'yes' })).toMatch(/\bcancel\b/);
  for (const given of [watered, { ...watered, cancel: false }]) {
    expect(await refused(me, 'snooze_care', given)).toMatch(/\buntil is required\b/);
  }
});

test('the schema of the tool has cancel, and does not require until', async () => {
  const found = (await listTools(me)).find(({ name }) => name === 'snooze_care');
  expect(found?.inputSchema).toMatchObject({
    properties: { cancel: { type: 'boolean' } },
  });
  expect(found?.inputSchema).not.toHaveProperty('required');
});

test('REST has no such field', async () => {
  const body = { ...watered, until: null, cancel: true };
  await me.user.post('/api/care/snooze', body).expect(400);
});
