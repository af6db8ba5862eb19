import { dueCare } from '../../../examples/offline-client/due';
import { atFirstAttempts, HostileNetwork } from '../../support/hostile-network';
import { startService } from '../../support/program';
import type { TestService, TestUser } from '../../support/service';
import { bodyOf } from '../../support/shapes';
import { Device } from './device';

let service: TestService;
let network: HostileNetwork;
let user: TestUser;
let device: Device;
let plantId: string;
beforeAll(async () => {
  service = await startService();
  network = await HostileNetwork.before(service.url);
});
beforeEach(async () => {
  user = await service.user();
  device = new Device(network.url, user.token);
  ({ id: plantId } = await user.plant({ wateringFrequencyDays: 7 }));
  await device.client.sync();
  network.onRequest = atFirstAttempts('response lost');
});
afterEach(() => {
  network.onRequest = () => undefined;
});
afterAll(async () => {
  await network.close();
  await service.close();
});

const eventsOf = async () => bodyOf(await user.get('/api/events').expect(200))['items'];

/** Says that what is due is done; returns the key. */
function done(): string {
  const { copy, account } = device.client.state;
  const [item] = dueCare(copy, account?.timezone ?? '');
  if (!item) throw new Error('Nothing is due.');
  return device.client.decide('done', item, { text: 'By mistake' });
}

test('care that is done and undone offline is undone', async () => {
  device.client.enqueue('DELETE', `/api/events/${done()}`);
  await device.syncThrough();
  expect(await eventsOf()).toEqual([]);
  expect(device.client.state).toMatchObject({ queue: [], problems: [], copy: { events: {} } });
});

test('of care of several plants the key stands for the events of all', async () => {
  const { id: other } = await user.plant();
  const { client } = device;
  const body = { plantIds: [plantId, other], type: 'note' };
  const key = client.enqueue('POST', '/api/events', body);
  client.enqueue('POST', '/api/events/delete', { eventIds: [key] });
  await device.syncThrough();
  expect(await eventsOf()).toEqual([]);
  expect(client.state).toMatchObject({ queue: [], problems: [] });
});

test('a page that was opened before a record was saved may use its key afterwards', async () => {
  const { client } = device;
  const plant = client.enqueue('POST', '/api/plants', { name: 'Moss' });
  const event = done();
  await device.syncThrough();
  client.enqueue('POST', `/api/plants/${plant}/events`, { text: 'Came' });
  client.edit('plants', plant, { notes: 'In the shade' });
  client.enqueue('DELETE', `/api/events/${event}`);
  const { queue } = client.state;
  expect(queue[1]?.seen).toBeDefined();
  await device.syncThrough();
  expect(client.state).toMatchObject({ queue: [], problems: [] });
  expect(await eventsOf()).toMatchObject([{ text: 'Came' }]);
});

test('a skip of care that is never due again is settled', async () => {
  const { client } = device;
  const rule = { care: 'repotted', everyDays: 2, startOn: '2026-01-01', endOn: '2999-01-01' };
  const { id: scheduleId } = bodyOf(await user.post(`/api/plants/${plantId}/schedules`, rule));
  const what = { plantId, scheduleId, dueOn: '2026-02-02' };
  client.enqueue('POST', '/api/care/skip', { plantIds: [plantId], scheduleId, dueOn: what.dueOn });
  client.enqueue('POST', '/api/care/skip', what);
  await device.syncThrough();
  expect(client.state).toMatchObject({ queue: [], problems: [] });
});
