import path from 'node:path';

import { OfflineClient } from '../../examples/offline-client/client';
import { FileStore, MemoryStore, type Store } from '../../examples/offline-client/store';
import { DAY_MS } from '../../src/core/time';
import { Client } from '../support/client';
import { resetClock, setClock } from '../support/clock';
import { listed } from '../support/copy';
import { freePort } from '../support/processes';
import type { TestService, TestUser } from '../support/service';
import type { NetworkFault } from '../support/tcp-proxy';
import {
  freshDatabase,
  asOperatorOf,
  dataDirectory,
  makeTokens,
  RealServer,
  removeDataDirectory,
  startService,
  TcpProxy,
} from '../support/program';

/** Each lasts for a few requests: connections break, or requests or responses are lost. */
const FAULTS: NetworkFault[] = ['cut', 'answers lost', 'delay', 'requests lost', 'black hole'];
const FAULT_MS = 150;
const ROUNDS = FAULTS.length;

let dataDir: string;
let port: number;
let mongodbUri: string;
let token: string;
let server: RealServer;
let devices: Device[];

function startServer(): Promise<RealServer> {
  const { TEST_REDIS_URL: REDIS_URL } = process.env;
  return RealServer.start(dataDir, { PORT: String(port), MONGODB_URI: mongodbUri, REDIS_URL });
}

class Killed extends Error {}

/** A phone or tablet whose app may exit at any save, on a network that may fail. */
class Device {
  client: OfflineClient;
  /** How many saves are left before its app exits. */
  #savesLeft = Infinity;

  private constructor(
    readonly store: Store,
    readonly tunnel: TcpProxy,
    client: OfflineClient,
  ) {
    this.client = client;
  }

  static async start(store: Store): Promise<Device> {
    const tunnel = await TcpProxy.start(String(port));
    const client = await OfflineClient.open({ url: '', token, store });
    const device = new Device(store, tunnel, client);
    await device.restart();
    return device;
  }

  async restart(): Promise<void> {
    this.#savesLeft = Infinity;
    const { store } = this;
    this.client = await OfflineClient.open({
      url: `http://127.0.0.1:${this.tunnel.port}`,
      token,
      timeoutMs: 1000,
      store: {
        load: () => store.load(),
        save: async (json) => {
          if (this.#savesLeft === 0) throw new Killed();
          this.#savesLeft -= 1;
          await store.save(json);
        },
      },
    });
  }

  /** Synchronizes; the app exits at a save and is restarted. */
  async syncAndEnd(saves: number): Promise<void> {
    this.#savesLeft = saves;
    await this.client.sync().catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
    });
    await this.restart();
  }

  /** Synchronizes until nothing is left to do. */
  async finish(): Promise<void> {
    let tries = 0;
    while ((await this.client.sync()) > 0) {
      tries += 1;
      if (tries > 50) throw new Error('It never comes to an end.');
    }
  }
}

/** Creates a plant with events, and changes known records of others; returns all texts. */
async function work({ client }: Device, name: string): Promise<string[]> {
  const plant = await client.write({ method: 'POST', path: '/api/plants', body: { name } });
  const texts = [`${name}, first`, `${name}, second`];
  for (const text of texts) {
    await client.write({ method: 'POST', path: `/api/plants/${plant}/events`, body: { text } });
  }
  const [anyPlant] = Object.keys(client.state.plants);
  if (anyPlant === undefined) return texts;
  const location = `where ${name} is`;
  await client.write({ method: 'PATCH', path: `/api/plants/${anyPlant}`, body: { location } });
  const text = `${name}, elsewhere`;
  await client.write({ method: 'POST', path: `/api/plants/${anyPlant}/events`, body: { text } });
  return [...texts, text];
}

async function failFor(tunnel: TcpProxy, fault: NetworkFault): Promise<void> {
  tunnel.fail(fault);
  await new Promise((resolve) => setTimeout(resolve, FAULT_MS));
  // Lost data never arrives: the device is on another network now.
  tunnel.fail('cut', { onlyOpen: true });
  tunnel.restore();
}

describe('on a failing network', () => {
  beforeEach(async () => {
    dataDir = await dataDirectory();
    port = await freePort();
    mongodbUri = freshDatabase();
    server = await startServer();
    [token = ''] = await asOperatorOf(mongodbUri, (app) => makeTokens(app, ['ada']));
    devices = await Promise.all(
      [new FileStore(path.join(dataDir, 'phone.json')), new MemoryStore()].map((store) =>
        Device.start(store),
      ),
    );
  });
  afterEach(async () => {
    await Promise.all(devices.map(({ tunnel }) => tunnel.close()));
    await server.kill();
    await removeDataDirectory(dataDir);
  });

  test('two devices end with equal copies although connections, apps and the server fail, and nothing is lost or doubled', async () => {
    const written: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const fault = FAULTS[round % FAULTS.length] ?? 'cut';
      await Promise.all(
        devices.map(async (device, index) => {
          written.push(...(await work(device, `plant ${round} of ${index}`)));
          await Promise.all([device.syncAndEnd(2 * round + index), failFor(device.tunnel, fault)]);
        }),
      );
      if (round === 2) {
        const syncing = devices.map(({ client }) => client.sync());
        await server.kill();
        server = await startServer();
        await Promise.all(syncing);
      }
    }
    // The device that finishes first has yet to receive what the other sends.
    for (const device of [...devices, ...devices]) await device.finish();

    const direct = new Client(server.url, token);
    const lists = await listed(direct, []);
    direct.close();
    for (const { client } of devices) {
      const { queue, rejected, plants, events } = client.state;
      expect({ queue, rejected }).toEqual({ queue: [], rejected: [] });
      expect({ plants: sorted(plants), events: sorted(events) }).toEqual({
        plants: lists.plants,
        events: lists.events,
      });
    }
    const names = devices.flatMap((_, index) => rounds((round) => `plant ${round} of ${index}`));
    expect(lists.plants.map(({ name }) => name).sort()).toEqual(names.sort());
    expect(lists.events.map(({ text }) => text).sort()).toEqual(written.sort());
  });
});

describe('the reference client', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({});
  });
  afterEach(resetClock);
  afterAll(() => service.close());

  async function deviceOf(user: TestUser): Promise<OfflineClient> {
    const { token: own } = user;
    return OfflineClient.open({ url: service.url, token: own, store: new MemoryStore() });
  }

  test('a device that was offline for longer than deletions are kept starts again', async () => {
    const user = await service.user({ expiresInSeconds: (200 * DAY_MS) / 1000 });
    const gone = await user.plant();
    const client = await deviceOf(user);
    expect(await client.sync()).toBe(0);
    await user.delete(`/api/plants/${gone.id}`).expect(200);
    const kept = await user.plant();
    setClock(new Date(Date.now() + 100 * DAY_MS).toISOString());
    const text = 'Written while away';
    await client.write({ method: 'POST', path: `/api/plants/${kept.id}/events`, body: { text } });
    expect(await client.sync()).toBe(0);
    expect(Object.keys(client.state.plants)).toEqual([kept.id]);
    expect(Object.values(client.state.events)).toMatchObject([{ text }]);
  });

  test('a refused change is set aside with its code, and the rest is sent', async () => {
    const user = await service.user();
    const client = await deviceOf(user);
    const nameless = { method: 'POST', path: '/api/plants', body: { name: '' } } as const;
    await client.write(nameless);
    await client.write({ ...nameless, body: { name: 'Fern' } });
    expect(await client.sync()).toBe(0);
    expect(client.state).toMatchObject({
      queue: [],
      rejected: [{ write: nameless, code: 'validation_error' }],
    });
    expect(Object.values(client.state.plants)).toMatchObject([{ name: 'Fern' }]);
  });

  test('a snooze is in the copy as long as it stands', async () => {
    const user = await service.user();
    const [fern, moss] = [
      await user.plant({ wateringFrequencyDays: 3 }),
      await user.plant({ wateringFrequencyDays: 3, fertilizerFrequencyDays: 30 }),
    ];
    const client = await deviceOf(user);
    const until = new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10);
    const snooze = (plantId: string, type: string): Promise<string> => {
      const body = { plantId, type, until };
      return client.write({ method: 'POST', path: '/api/care/snooze', body });
    };
    await snooze(fern.id, 'watered');
    await snooze(moss.id, 'watered');
    await snooze(moss.id, 'fertilized');
    expect(await client.sync()).toBe(0);
    const all = [
      { plantId: fern.id, type: 'watered', until },
      { plantId: moss.id, type: 'watered', until },
      { plantId: moss.id, type: 'fertilized', until },
    ];
    expect(client.state.snoozes).toEqual(all);
    const event = await user.event(moss.id);
    expect(await client.sync()).toBe(0);
    expect(client.state.snoozes).toEqual([all[0], all[2]]);
    await user.delete(`/api/events/${event.id}`).expect(200);
    await user.delete(`/api/plants/${fern.id}`).expect(200);
    expect(await client.sync()).toBe(0);
    expect(client.state.snoozes).toEqual([all[1], all[2]]);
  });

  test('an invalid token does not lose queued changes', async () => {
    const user = await service.user();
    const client = await deviceOf({ ...user, token: `${user.token}x` });
    await client.write({ method: 'POST', path: '/api/plants', body: { name: 'Fern' } });
    await expect(client.sync()).rejects.toThrow('token');
    expect(client.state.queue).toHaveLength(1);
  });
});

test('a store that fails once, like a full disk, is used again', async () => {
  const store = new MemoryStore();
  const save = jest.spyOn(store, 'save').mockRejectedValueOnce(new Error('ENOSPC'));
  const client = await OfflineClient.open({ url: 'http://127.0.0.1:1', token: '', store });
  const add = (name: string) =>
    client.write({ method: 'POST', path: '/api/plants', body: { name } });
  await expect(add('Fern')).rejects.toThrow('ENOSPC');
  await add('Palm');
  expect(save).toHaveBeenCalledTimes(2);
  const { state } = await OfflineClient.open({ url: '', token: '', store });
  expect(state.queue.map(({ body }) => body)).toEqual([{ name: 'Fern' }, { name: 'Palm' }]);
});

function rounds<T>(of: (round: number) => T): T[] {
  return Array.from({ length: ROUNDS }, (_, round) => of(round));
}

function sorted(items: Readonly<Record<string, unknown>>): unknown[] {
  return Object.entries(items)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item);
}
