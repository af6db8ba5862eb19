import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { Client, record, records } from '../../support/client';
import { freePort, until } from '../../support/processes';
import {
  accountsPlugin,
  asOperator,
  dataDirectory,
  RealServer,
  removeDataDirectory,
} from '../../support/program';

const RECEIVER = path.resolve(__dirname, '../../../examples/webhook-receiver/receiver.js');
const PEOPLE = ['ann', 'bob', 'eve'];
const ENV = { WEBHOOK_ALLOW_PRIVATE: 'true' };
/** Plants that each account creates and deletes; after some of them a process is killed. */
const ROUNDS = 24;
const VICTIMS = ['receiver', 'server', 'both', 'server', 'receiver', 'both'];

let dataDir: string;
let server: RealServer;
let receiver: ChildProcess | undefined;

beforeAll(async () => {
  dataDir = await dataDirectory();
  server = await RealServer.start(dataDir, ENV);
});
afterAll(async () => {
  receiver?.kill('SIGKILL');
  await server.kill();
  await removeDataDirectory(dataDir);
});

function startReceiver(port: number, secret: string, file: string): ChildProcess {
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret };
  return spawn(process.execPath, [RECEIVER, file], { env, stdio: 'ignore' });
}

async function kill(child: ChildProcess | undefined): Promise<void> {
  if (!child) return;
  const ended = once(child, 'close');
  child.kill('SIGKILL');
  await ended;
}

function eventsIn(file: string): Record<string, unknown>[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  // The last line may be incomplete.
  return lines.slice(0, -1).map((line) => record(JSON.parse(line)));
}

test('whichever side is killed, the example receiver records each event once, in the order of each account', async () => {
  const file = path.join(dataDir, 'events.jsonl');
  const port = await freePort();
  const tokens = await asOperator(dataDir, (app) => {
    const accounts = app.exportsOf(accountsPlugin);
    return Promise.all(
      ['~shop', ...PEOPLE].map(async (userId) => {
        const scopes = userId === '~shop' ? ['accounts:manage'] : ['plants:read', 'plants:write'];
        const wanted = { userId, scopes, name: 'test', expiresInSeconds: 7200 };
        return (await accounts.tokens.createToken(wanted)).token;
      }),
    );
  });
  const [shop = '', ...others] = tokens;
  const made = await new Client(server.url, shop).send('POST', '/api/webhooks', {
    body: { url: `http://127.0.0.1:${port}/`, events: ['plant.created', 'plant.deleted'] },
  });
  expect(made.status).toBe(201);
  const secret = String(record(made.body)['secret']);
  receiver = startReceiver(port, secret, file);

  /** The acknowledged writes of each account, in order. */
  const done = new Map(PEOPLE.map((id): [string, string[]] => [id, []]));
  let acts = 0;
  const act = async (index: number, method: string, at: string, body?: object) => {
    for (let attempt = 0; ; attempt += 1) {
      const client = new Client(server.url, others[index] ?? '');
      const key = { 'Idempotency-Key': `${PEOPLE[index]} ${method} ${at} ${JSON.stringify(body)}` };
      const options = { ...(body && { body }), headers: method === 'POST' ? key : {} };
      const reply = await client.send(method, at, options).catch(() => undefined);
      client.close();
      // An attempt whose response was lost may have deleted it.
      const isGone = method === 'DELETE' && attempt > 0 && reply?.status === 404;
      if (reply && (reply.status < 300 || isGone)) return record(reply.body);
      await until(() => server.process.exitCode === null && server.url !== '');
    }
  };
  const live = async (userId: string, index: number): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await act(index, 'POST', '/api/plants', { name: `${userId} ${round}` });
      done.get(userId)?.push(`plant.created ${userId} ${round}`);
      await act(index, 'DELETE', `/api/plants/${String(id)}`);
      done.get(userId)?.push(`plant.deleted ${userId} ${round}`);
      acts += 1;
    }
  };
  const reaper = async (): Promise<void> => {
    for (const [index, victim] of VICTIMS.entries()) {
      await until(() => acts > (index + 1) * ((ROUNDS * PEOPLE.length) / (VICTIMS.length + 2)));
      if (victim !== 'server') await kill(receiver);
      if (victim !== 'receiver') {
        await server.kill();
        server = await RealServer.start(dataDir, ENV);
      }
      if (victim !== 'server') receiver = startReceiver(port, secret, file);
    }
  };
  await Promise.all([...PEOPLE.map(live), reaper()]);

  const expected = [...done.values()].flat().length;
  await until(() => eventsIn(file).length >= expected);
  const waiting = async (): Promise<number> => {
    const list = `/api/webhooks/${String(record(made.body)['id'])}/deliveries?limit=100`;
    const { body } = await new Client(server.url, shop).send('GET', list);
    return records(record(body)['items']).filter(({ status }) => status === 'waiting').length;
  };
  await until(async () => (await waiting()) === 0);
  const events = eventsIn(file);
  for (const [userId, all] of done) {
    const told = events.filter(({ data }) => record(data)['userId'] === userId);
    expect(told.map(({ type, data }) => `${String(type)} ${String(record(data)['name'])}`)).toEqual(
      all,
    );
  }
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
});
