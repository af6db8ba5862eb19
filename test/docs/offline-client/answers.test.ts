import { SignInAgain, TryLater } from '../../../examples/offline-client/api';
import { ALL_FATES, atFirstAttempts, HostileNetwork } from '../../support/hostile-network';
import { person } from '../../../plugins/oauth/test/support/people';
import { Phone, type Tokens } from '../../../plugins/oauth/test/support/phone';
import { resetClock, setClock } from '../../support/clock';
import { startService } from '../../support/program';
import type { TestService, TestUser } from '../../support/service';
import { Device } from './device';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let service: TestService;
let network: HostileNetwork;
let user: TestUser;
let device: Device;
beforeAll(async () => {
  service = await startService();
  network = await HostileNetwork.before(service.url);
});
beforeEach(async () => {
  user = await service.user({ expiresInSeconds: 400 * 86_400 });
  device = new Device(network.url, user.token);
});
afterEach(() => {
  network.onRequest = () => undefined;
  resetClock();
});
afterAll(async () => {
  await network.close();
  await service.close();
});

function endToken(): void {
  setClock(Date.now() + HOUR_MS + 1000);
}

const NAMES = ['Fern', 'Moss', 'Palm'];

/** Queues three plants with an event each, and a change of the first. */
function queueThree({ client }: Device): void {
  const keys = NAMES.map((name) => {
    const key = client.enqueue('POST', '/api/plants', { name });
    client.enqueue('POST', `/api/plants/${key}/events`, { text: `${name} came` });
    return key;
  });
  client.edit('plants', keys[0] ?? '', { location: 'Kitchen' });
}

async function textsOf(one: TestUser): Promise<string[]> {
  const plants = (await one.get('/api/plants?sort=name').expect(200)).body as Named[];
  const { items } = (await one.get('/api/events').expect(200)).body as {
    items: { text: string }[];
  };
  return [
    ...plants.map(({ name, location }) => `${name} ${location}`),
    ...items.map(({ text }) => text).sort(),
  ];
}
interface Named {
  name: string;
  location: string | null;
}
const ALL = ['Fern Kitchen', 'Moss null', 'Palm null', 'Fern came', 'Moss came', 'Palm came'];

function clear({ client: { state } }: Device): void {
  expect(state).toMatchObject({ queue: [], problems: [] });
}

test.each(ALL_FATES)('a queue survives if each first attempt meets this: %s', async (fate) => {
  queueThree(device);
  network.onRequest = atFirstAttempts(fate);
  await device.syncThrough();
  clear(device);
  expect(await textsOf(user)).toEqual(ALL);
});

test('the wait that a response asks for is passed on', async () => {
  network.onRequest = () => 'too many requests';
  const waits = await device.client.sync().catch((error: unknown) => error);
  expect(waits).toBeInstanceOf(TryLater);
  expect(waits).toMatchObject({ seconds: 1 });
});

describe('when the access token ends in the middle of the queue', () => {
  let phone: Phone;
  let tokens: Tokens;
  beforeEach(async () => {
    const ada = await person(service);
    phone = await Phone.register(service, ada);
    const scope = 'plants:read plants:write events:write insights:read offline_access';
    tokens = await phone.tokens({ scope });
    user = await service.user({ id: ada.name, expiresInSeconds: 400 * 86_400 });
    device = new Device(network.url, { client_id: phone.clientId, ...tokens });
    queueThree(device);
    let requests = 0;
    network.onRequest = () => {
      requests += 1;
      if (requests === 4) endToken();
      return undefined;
    };
  });

  test('it is renewed, and nothing is lost', async () => {
    await device.syncThrough();
    clear(device);
    expect(await textsOf(user)).toEqual(ALL);
    expect(JSON.parse(device.keychain.load() ?? '')).not.toMatchObject(tokens);
    // What is stored works on.
    device.restart();
    endToken();
    await device.syncThrough();
  });

  test('a refresh whose response is lost is repeated', async () => {
    endToken();
    let refreshes = 0;
    network.onRequest = ({ url }) => {
      if (url !== '/oauth/token') return undefined;
      refreshes += 1;
      return refreshes < 3 ? 'response lost' : undefined;
    };
    await device.syncThrough();
    expect(refreshes).toBe(3);
    clear(device);
    expect(await textsOf(user)).toEqual(ALL);
  });

  test('many requests refresh it once', async () => {
    await device.syncThrough();
    endToken();
    network.seen.length = 0;
    const reads = Array.from({ length: 10 }, () => device.client.send('GET', '/api/plants'));
    expect((await Promise.all(reads)).map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(network.seen.filter((each) => each === 'POST /oauth/token')).toHaveLength(1);
  });

  test('and the grant too, the queue stays until the same person has signed in again', async () => {
    await phone.refresh(tokens.refresh_token).expect(200);
    network.onRequest = () => undefined;
    await device.client.send('GET', '/api/plants');
    endToken();
    await expect(device.client.sync()).rejects.toThrow(SignInAgain);
    expect(device.client.state).toMatchObject({ queue: { length: 7 }, problems: [] });
    const other = await phoneOf(phone.clientId);
    device.keychain.save(JSON.stringify({ client_id: phone.clientId, ...(await phone.tokens()) }));
    await device.restart().sync();
    clear(device);
    device.client.enqueue('POST', '/api/plants', { name: 'Only mine' });
    device.keychain.save(JSON.stringify({ client_id: phone.clientId, ...(await other.tokens()) }));
    await expect(device.restart().sync()).rejects.toThrow('Another person');
    expect(device.client.state.queue).toHaveLength(1);
  });

  async function phoneOf(clientId: string): Promise<Phone> {
    return new Phone(service, await person(service), clientId);
  }
});

describe('what is refused is kept for the person to see', () => {
  test('with what depends on it, and can be queued again', async () => {
    user = await service.user({ tier: 'free' });
    const plants: { id: string }[] = [];
    while (plants.length < 25) plants.push(await user.plant());
    device = new Device(network.url, user.token);
    const { client } = device;
    const key = client.enqueue('POST', '/api/plants', { name: 'One too many' });
    const event = client.enqueue('POST', `/api/plants/${key}/events`, { text: 'It came' });
    client.enqueue('PATCH', `/api/events/${event}`, { text: 'It came today' });
    client.enqueue('PATCH', `/api/plants/${plants[1]?.id}`, { name: 'Sent all the same' });
    await client.sync();
    const [problem, ...others] = device.restart().state.problems;
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ code: 'plant_limit_reached', changes: { length: 3 } });
    expect(problem?.error).toMatch(/\.$/);
    if (!problem) return;
    await user.delete(`/api/plants/${plants[0]?.id}`).expect(200);
    device.client.close(problem, { again: true });
    await device.restart().sync();
    clear(device);
    expect((await textsOf(user)).slice(-3)).toEqual([
      'One too many null',
      'Sent all the same null',
      'It came today',
    ]);
  });

  test.each([
    ['400', 'POST', '/api/plants', { name: '' }, 'validation_error'],
    [
      '403',
      'POST',
      '/api/account/tokens',
      { name: 'x', scopes: ['plants:write'] },
      'insufficient_scope',
    ],
    ['404', 'PATCH', '/api/plants/00000000-0000-4000-8000-000000000000', {}, 'plant_not_found'],
  ])('%s', async (_, method, path, body, code) => {
    user = await service.user({ scopes: ['plants:read', 'account'] });
    const scopes = ['plants:read', 'plants:write', 'events:write'];
    device = new Device(network.url, (await service.user({ id: user.id, scopes })).token);
    device.client.enqueue(method, path, body);
    device.client.enqueue('POST', '/api/plants', { name: 'Fern' });
    await device.client.sync();
    const { queue, problems, copy } = device.restart().state;
    expect(queue).toEqual([]);
    expect(problems).toMatchObject([{ code, changes: [{ method, path, body }] }]);
    expect(Object.values(copy.plants)).toMatchObject([{ name: 'Fern' }]);
    for (const problem of [...problems]) device.client.close(problem, { again: false });
    expect(device.restart().state).toMatchObject({ queue: [], problems: [] });
  });

  test('what was sent long ago without a response may have been done, and is not done twice', async () => {
    device.client.enqueue('POST', '/api/plants', { name: 'Fern' });
    network.onRequest = ({ method }) => (method === 'POST' ? 'response lost' : undefined);
    await expect(device.client.sync()).rejects.toThrow(TryLater);
    network.onRequest = () => undefined;
    setClock(Date.now() + 8 * DAY_MS);
    await device.restart().sync();
    expect(device.client.state).toMatchObject({ queue: [], problems: [{ code: 'unknown' }] });
    expect(await textsOf(user)).toEqual(['Fern null']);
  });

  test('a record that another device deleted is deleted', async () => {
    const { id } = await user.plant();
    await user.delete(`/api/plants/${id}`).expect(200);
    device.client.enqueue('DELETE', `/api/plants/${id}`);
    await device.client.sync();
    clear(device);
  });
});

describe('edits', () => {
  let id: string;
  beforeEach(async () => {
    ({ id } = await user.plant({ name: 'Fern', notes: 'As it was' }));
    await device.client.sync();
  });
  const plant = async () => (await user.get(`/api/plants/${id}`).expect(200)).body as Named;

  test('of one device follow each other, whichever responses are lost', async () => {
    for (const lost of [[], [1], [1, 2, 3], [2, 4]]) {
      for (const notes of ['One', 'Two', 'Three']) device.client.edit('plants', id, { notes });
      await user.event(id);
      let patches = 0;
      network.onRequest = ({ method }) => {
        if (method === 'PATCH') patches += 1;
        return method === 'PATCH' && lost.includes(patches) ? 'response lost' : undefined;
      };
      await device.syncThrough();
      clear(device);
      expect(await plant()).toMatchObject({ notes: 'Three' });
      expect(device.client.state.copy.plants[id]).toMatchObject({ notes: 'Three' });
    }
  });

  test('of a new record need no tag', async () => {
    const key = device.client.enqueue('POST', '/api/plants', { name: 'Moss' });
    device.client.edit('plants', key, { notes: 'New' });
    await device.client.sync();
    clear(device);
  });

  test('of a field that another device changed are shown, with what it is now', async () => {
    await user.patch(`/api/plants/${id}`, { notes: 'Theirs' }).expect(200);
    device.client.edit('plants', id, { notes: 'Mine' });
    await device.client.sync();
    const { queue, problems, copy } = device.client.state;
    expect(queue).toEqual([]);
    expect(problems).toMatchObject([
      {
        code: 'precondition_failed',
        changes: [{ path: `/api/plants/${id}`, body: { notes: 'Mine' } }],
      },
    ]);
    expect(copy.plants[id]).toMatchObject({ notes: 'Theirs' });
    const [problem] = problems;
    if (problem) device.client.close(problem, { again: true });
    await device.client.sync();
    expect(await plant()).toMatchObject({ notes: 'Mine' });
  });

  test('of other fields than another device changed are both kept', async () => {
    await user.patch(`/api/plants/${id}`, { location: 'Kitchen' }).expect(200);
    device.client.edit('plants', id, { notes: 'Mine' });
    await device.client.sync();
    clear(device);
    expect(await plant()).toMatchObject({ notes: 'Mine', location: 'Kitchen' });
  });

  test('a plant that another device changed is not deleted unseen', async () => {
    const { updatedAt = '' } = device.client.state.copy.plants[id] ?? {};
    await user.patch(`/api/plants/${id}`, { notes: 'Theirs' }).expect(200);
    device.client.enqueue('DELETE', `/api/plants/${id}`, undefined, { updatedAt, fields: {} });
    await device.client.sync();
    expect(device.client.state.problems).toMatchObject([{ code: 'precondition_failed' }]);
    expect(await plant()).toMatchObject({ notes: 'Theirs' });
  });
});

test('a cursor that has expired starts the copy again, and the queue stays', async () => {
  const gone = await user.plant();
  await device.client.sync();
  await user.delete(`/api/plants/${gone.id}`).expect(200);
  const kept = await user.plant();
  setClock(Date.now() + 100 * DAY_MS);
  device.client.enqueue('POST', `/api/plants/${kept.id}/events`, { text: 'Written while away' });
  network.onRequest = ({ method }) => (method === 'POST' ? 'request lost' : undefined);
  await expect(device.client.sync()).rejects.toThrow(TryLater);
  await device.client.pull();
  expect(device.client.state).toMatchObject({ queue: { length: 1 } });
  network.onRequest = () => undefined;
  await device.restart().sync();
  const { plants, events } = device.client.state.copy;
  expect(Object.keys(plants)).toEqual([kept.id]);
  expect(Object.values(events)).toMatchObject([{ text: 'Written while away' }]);
});

test('a deleted plant leaves neither events nor schedules nor snoozes', async () => {
  const { id } = await user.plant({ wateringFrequencyDays: 3 });
  await user.event(id);
  await user.post(`/api/plants/${id}/schedules`, { care: 'watered', everyDays: 3 }).expect(201);
  const until = new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10);
  await user.post('/api/care/snooze', { plantId: id, type: 'watered', until }).expect(200);
  await device.client.sync();
  const { copy } = device.client.state;
  expect(
    [copy.events, copy.schedules, copy.snoozes].map((each) => Object.keys(each).length),
  ).toEqual([1, 1, 1]);
  await user.delete(`/api/plants/${id}`).expect(200);
  await device.client.sync();
  expect(copy).toMatchObject({ plants: {}, events: {}, schedules: {}, snoozes: [] });
});

test('a store that fails once, like a full disk, is used again', async () => {
  const save = jest.spyOn(device.store, 'save').mockImplementationOnce(() => {
    throw new Error('ENOSPC');
  });
  const add = (name: string) => device.client.enqueue('POST', '/api/plants', { name });
  expect(() => add('Fern')).toThrow('ENOSPC');
  add('Palm');
  expect(save).toHaveBeenCalledTimes(2);
  expect(device.restart().state.queue).toMatchObject([
    { body: { name: 'Fern' } },
    { body: { name: 'Palm' } },
  ]);
});
