import { reconcile } from '../../src/app/reconcile';
import { Client, record, records, type Reply } from '../support/client';
import type { MongodbCommand } from '../support/mongodb-commands';
import { eventually } from '../support/processes';
import { type ProxiedService, startProxiedService } from '../support/proxied-service';
import type { TestUser } from '../support/service';
import { NETWORK_FAULTS, type NetworkFault } from '../support/tcp-proxy';

/** The ten seconds that a write may be retried, its last attempt, and something for a slow machine. */
const WRITE_MS = 16_000;
/** Whether each fault happens at every command, as for `make test-network`, or only at some. */
const EVERY_COMMAND = process.env['NETWORK_FAULTS'] === 'every';

/** What each write finds of its account. */
interface Garden {
  user: TestUser;
  client: Client;
  plantId: string;
  eventId: string;
}

interface Write {
  name: string;
  status: number;
  request: (garden: Garden) => { method: string; path: string; body?: object };
  /** How many plants and events there are once it had its one effect, and how both are called. */
  effect: { plants: string[]; events: string[] };
}

const BEFORE = { plants: ['Fern'], events: ['old'] };
const WRITES: Write[] = [
  {
    name: 'creating a plant',
    status: 201,
    request: () => ({ method: 'POST', path: '/api/plants', body: { name: 'Ivy' } }),
    effect: { ...BEFORE, plants: ['Fern', 'Ivy'] },
  },
  {
    name: 'creating an event',
    status: 201,
    request: ({ plantId }) => ({
      method: 'POST',
      path: `/api/plants/${plantId}/events`,
      body: { type: 'growth', growthAmount: 2, growthUnit: 'cm', text: 'new' },
    }),
    effect: { ...BEFORE, events: ['new', 'old'] },
  },
  {
    name: 'changing a plant',
    status: 200,
    request: ({ plantId }) => ({
      method: 'PATCH',
      path: `/api/plants/${plantId}`,
      body: { name: 'Moss' },
    }),
    effect: { ...BEFORE, plants: ['Moss'] },
  },
  {
    name: 'changing an event',
    status: 200,
    request: ({ eventId }) => ({
      method: 'PATCH',
      path: `/api/events/${eventId}`,
      body: { text: 'changed' },
    }),
    effect: { ...BEFORE, events: ['changed'] },
  },
  {
    name: 'deleting a plant',
    status: 200,
    request: ({ plantId }) => ({ method: 'DELETE', path: `/api/plants/${plantId}` }),
    effect: { plants: [], events: [] },
  },
];

async function gardenOf({ service }: ProxiedService): Promise<Garden> {
  const user = await service.user();
  const client = new Client(service.url, user.token);
  const { id: plantId } = await user.plant({ name: 'Fern' });
  const { id: eventId } = await user.event(plantId, { text: 'old' });
  return { user, client, plantId, eventId };
}

function send(garden: Garden, write: Write): Promise<Reply> {
  const { method, path, body } = write.request(garden);
  const headers: Record<string, string> = method === 'POST' ? { 'idempotency-key': 'k' } : {};
  return garden.client.send(method, path, { body, headers, within: WRITE_MS });
}

/** Sends a write again until it is done, each answer being in time and either right or a 503. */
async function sendUntilDone(garden: Garden, write: Write): Promise<number[]> {
  const statuses: number[] = [];
  await eventually(async () => {
    const { status, headers } = await send(garden, write);
    statuses.push(status);
    if (status === 503) expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    return status !== 503;
  });
  return statuses;
}

/** What the account of a garden has. */
async function foundIn({ client, plantId }: Garden): Promise<Write['effect']> {
  const read = async (path: string): Promise<Reply> => {
    let reply: Reply | undefined;
    await eventually(async () => (reply = await client.send('GET', path)).status !== 503);
    if (!reply) throw new Error('There is no reply.');
    return reply;
  };
  const plants = records((await read('/api/plants')).body);
  const page = await read(`/api/plants/${plantId}/events`);
  const events = page.status === 404 ? [] : records(record(page.body)['items']);
  return {
    plants: plants.map(({ name }) => String(name)).sort(),
    events: events.map(({ text }) => String(text)).sort(),
  };
}

/** A command as one of a write, whatever account it is for. */
const stepOf = ({ name, collection }: MongodbCommand) => `${name} ${collection ?? ''}`.trim();

/** Which account each command is for: one that it names, or that of its transaction. */
class Accounts {
  readonly #ofSession = new Map<string, string>();

  idOf({ bytes, session = '' }: MongodbCommand): string | undefined {
    const named = /user-[0-9a-f-]{36}/.exec(bytes.toString('latin1'))?.[0];
    if (named !== undefined) this.#ofSession.set(session, named);
    return named ?? this.#ofSession.get(session);
  }
}

/** The commands that a write sends to MongoDB, in their order. */
async function stepsOf(proxied: ProxiedService, write: Write): Promise<string[]> {
  const garden = await gardenOf(proxied);
  // Its token and the like are known from now on, and not looked up again.
  await foundIn(garden);
  const accounts = new Accounts();
  const steps: string[] = [];
  proxied.proxy.onCommand((command) => {
    if (accounts.idOf(command) === garden.user.id) steps.push(stepOf(command));
    return undefined;
  });
  await send(garden, write);
  garden.client.close();
  return steps;
}

interface Case {
  write: Write;
  /** Which of the commands of the write fails, by its number and what it is. */
  at: number;
  step: string;
}

/** All commands of all writes; or one in so many of them, as there are faults, another for each. */
async function casesOf(proxied: ProxiedService, fault: NetworkFault): Promise<Case[]> {
  const cases: Case[] = [];
  for (const write of WRITES) {
    const steps = await stepsOf(proxied, write);
    expect(steps.at(-1)).toBe('commitTransaction');
    cases.push(...steps.map((step, at) => ({ write, at, step })));
  }
  const first = NETWORK_FAULTS.indexOf(fault);
  return cases.filter((_, place) => EVERY_COMMAND || place % NETWORK_FAULTS.length === first);
}

/** Has the connection of a command of each account have a fault, once; answers how many are left. */
function failEach(
  { proxy }: ProxiedService,
  fault: NetworkFault,
  failing: readonly { garden: Garden; at: number }[],
): () => number {
  const accounts = new Accounts();
  const left = new Map(failing.map(({ garden, at }) => [garden.user.id, at]));
  proxy.onCommand((command) => {
    const userId = accounts.idOf(command) ?? '';
    const before = left.get(userId);
    if (before === undefined) return undefined;
    if (before > 0) left.set(userId, before - 1);
    else left.delete(userId);
    return before > 0 ? undefined : fault;
  });
  return () => left.size;
}

async function runCases(
  proxied: ProxiedService,
  fault: NetworkFault,
  cases: readonly Case[],
): Promise<void> {
  const failing = await Promise.all(
    cases.map(async (each) => ({ ...each, garden: await gardenOf(proxied) })),
  );
  const left = failEach(proxied, fault, failing);
  const outcomes = await Promise.all(
    failing.map(async ({ garden, write, step }) => {
      const statuses = await sendUntilDone(garden, write);
      // An attempt whose answer was lost may have deleted it.
      const done = statuses.length > 1 && statuses.at(-1) === 404 ? 200 : statuses.at(-1);
      const found = await foundIn(garden);
      garden.client.close();
      return { what: `${write.name}, ${step}`, done, ...found };
    }),
  );
  const expected = cases.map(({ write, step }) => ({
    ...{ what: `${write.name}, ${step}`, done: write.status },
    ...write.effect,
  }));
  expect(outcomes).toEqual(expected);
  expect(left()).toBe(0);
}

/** What MongoDB's driver takes for a fault of the server, and so of all connections. */
const CONCERNS_ALL = new Set<NetworkFault>(['cut', 'garbage']);

test.concurrent.each(NETWORK_FAULTS)(
  '%s at a command of a write: one effect, and until then 503 in time',
  async (fault) => {
    const proxied = await startProxiedService();
    try {
      const cases = await casesOf(proxied, fault);
      const together = CONCERNS_ALL.has(fault) ? 1 : cases.length;
      while (cases.length > 0) await runCases(proxied, fault, cases.splice(0, together));
      proxied.proxy.restore();
      const { differences } = await reconcile(proxied.service.app, { repair: false });
      expect(differences).toEqual([]);
    } finally {
      await proxied.close();
    }
  },
  600_000,
);
