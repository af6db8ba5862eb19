import { setTimeout as sleep } from 'node:timers/promises';

import type { MongodbCommand } from '../support/mongodb-commands';
import { until } from '../support/processes';
import type { ProxiedService } from '../support/proxied-service';
import type { NetworkFault } from '../support/tcp-proxy';
import {
  afterOne,
  type Garden,
  gardenFor,
  heldOf,
  send,
  strangers,
  type Write,
  writes,
} from './kinds-of-write';
import { reconcile, startProxiedService, NETWORK_FAULTS } from '../support/program';

/** Whether each fault happens at every command, as for `make test-network`, or only at some. */
const EVERY_COMMAND = process.env['NETWORK_FAULTS'] === 'every';
/** One command in so many has a fault otherwise, each time the next kind of it. */
const STRIDE = 3;
/** Fewer than the accounts that are written to at once: others would wait for those that hang. */
const AT_ONCE = 24;
/** So that writes share no command: each then meets its own fault alone. */
const APART_MS = 30;

/** Sends a write again until it is done, each answer being either right or a 503. */
async function sendUntilDone(garden: Garden, write: Write): Promise<number[]> {
  const statuses: number[] = [];
  const ask = async (): Promise<boolean> => {
    const { status, headers } = await send(garden, write);
    statuses.push(status);
    if (status === 503) expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    return status !== 503;
  };
  await until(ask);
  return statuses;
}

/** A command as one of a write, whatever account it is for. */
const stepOf = ({ name, collection }: MongodbCommand) => `${name} ${collection ?? ''}`.trim();

/** Which accounts each command is for: those that it names, or that of its transaction. */
class Accounts {
  readonly #ofSession = new Map<string, string>();

  idsOf({ bytes, session = '', inTransaction }: MongodbCommand): string[] {
    // Calls that come together are authenticated by one command.
    const named = bytes.toString('latin1').match(/user-[0-9a-f-]{36}/g) ?? [];
    for (const userId of named) this.#ofSession.set(session, userId);
    const known = inTransaction ? this.#ofSession.get(session) : undefined;
    return named.length > 0 || known === undefined ? [...new Set(named)] : [known];
  }
}

/** The commands that a write sends to MongoDB, in their order. */
async function stepsOf(proxied: ProxiedService, garden: Garden, write: Write): Promise<string[]> {
  const accounts = new Accounts();
  const steps: string[] = [];
  proxied.proxy.onCommand((command) => {
    if (accounts.idsOf(command).includes(garden.user.id)) steps.push(stepOf(command));
    return undefined;
  });
  const { status } = await send(garden, write);
  const known = [...steps];
  expect({ write: write.name, status, last: known.at(-1) }).toEqual({
    write: write.name,
    status: write.operation.response.status,
    last: 'commitTransaction',
  });
  return known;
}

/** A command of a write at which something is to fail: its number among them, and what it is. */
interface Place {
  write: Write;
  /** What there is once it was done. */
  held: unknown;
  at: number;
  step: string;
}

let places: Promise<readonly Place[]> | undefined;

/** All commands of all writes, found out once, whichever service is the first to. */
function placesOf(proxied: ProxiedService): Promise<readonly Place[]> {
  return (places ??= findPlaces(proxied));
}

async function findPlaces(proxied: ProxiedService): Promise<Place[]> {
  const found: Place[] = [];
  for (const write of writes) {
    const garden = await gardenFor(proxied.service, write);
    const steps = await stepsOf(proxied, garden, write);
    // What is known is compared where the write meets its fault.
    const held = afterOne(write) ?? (await heldOf(proxied, garden, write));
    garden.client.close();
    // So that each write meets a fault, also where not every command does.
    expect(steps.length).toBeGreaterThanOrEqual(STRIDE);
    found.push(...steps.map((step, at) => ({ write, held, at, step })));
  }
  return found;
}

/** Where a fault is tried. */
async function placesFor(proxied: ProxiedService, fault: NetworkFault): Promise<Place[]> {
  const first = NETWORK_FAULTS.indexOf(fault) * STRIDE;
  const round = NETWORK_FAULTS.length * STRIDE;
  const all = await placesOf(proxied);
  return all.filter((_, index) => EVERY_COMMAND || index % round === first);
}

interface Case extends Place {
  garden: Garden;
}

/** Has the connection of a command of each account have a fault, once; answers how many are left. */
function failEach(
  { proxy }: ProxiedService,
  fault: NetworkFault,
  cases: readonly Case[],
): () => number {
  const accounts = new Accounts();
  const left = new Map(cases.map(({ garden, at }) => [garden.user.id, at]));
  proxy.onCommand((command) => {
    let found: NetworkFault | undefined;
    for (const userId of accounts.idsOf(command)) {
      const before = left.get(userId);
      if (before === undefined) continue;
      if (before > 0) left.set(userId, before - 1);
      else {
        left.delete(userId);
        found = fault;
      }
    }
    return found;
  });
  return () => left.size;
}

/** Tries a fault at commands of several accounts, which share none of them or come at once. */
async function runTogether(
  proxied: ProxiedService,
  fault: NetworkFault,
  chosen: readonly Place[],
  areApart: boolean,
): Promise<void> {
  const cases = await Promise.all(
    chosen.map(async (place) => ({
      ...place,
      garden: await gardenFor(proxied.service, place.write),
    })),
  );
  const left = failEach(proxied, fault, cases);
  const outcomes = await Promise.all(
    cases.map(async ({ garden, write, step }, index) => {
      if (areApart) await sleep(index * APART_MS);
      const statuses = await sendUntilDone(garden, write);
      // An attempt whose answer was lost may have deleted it.
      const done = statuses.length > 1 && statuses.at(-1) === 404 ? 200 : statuses.at(-1);
      const held = await heldOf(proxied, garden, write);
      garden.client.close();
      return { what: `${write.name}, ${step}`, done, held };
    }),
  );
  const expected = cases.map(({ write, held, step }) => ({
    what: `${write.name}, ${step}`,
    done: write.operation.response.status,
    held,
  }));
  expect(outcomes).toEqual(expected);
  expect(left()).toBe(0);
}

/** What MongoDB's driver takes for a fault of the server, and so of all connections. */
const CONCERNS_ALL = new Set<NetworkFault>(['garbage', 'cut']);
/** Those that are tried at one command after the other first: they take longest. */
const LONGEST_FIRST = [...new Set([...CONCERNS_ALL, ...NETWORK_FAULTS])];

test('each request that is tried is one of the API’s', () => {
  expect(strangers).toEqual([]);
});

test.concurrent.each(LONGEST_FIRST)(
  '%s at a command of a write: one effect, and until then 503 in time',
  async (fault) => {
    const proxied = await startProxiedService({ jobs: false });
    const { service, proxy } = proxied;
    try {
      const chosen = await placesFor(proxied, fault);
      const together = CONCERNS_ALL.has(fault) ? 1 : AT_ONCE;
      for (let areApart = true; chosen.length > 0; areApart = together === 1 || !areApart) {
        await runTogether(proxied, fault, chosen.splice(0, together), areApart);
      }
      proxy.restore();
      const { differences } = await reconcile(service.app, { repair: false });
      expect(differences).toEqual([]);
    } finally {
      await proxied.close();
    }
  },
  // Garbage costs three seconds each time: until then the driver does not ask for MongoDB again.
  1_200_000,
);
