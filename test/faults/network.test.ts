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

/** Whether each fault happens at every command, as with `make test-network`, or only at some. */
const EVERY_COMMAND = process.env['NETWORK_FAULTS'] === 'every';
/** Otherwise one command in so many has a fault, each time of the next kind. */
const STRIDE = 3;
/** Accounts that are written concurrently; more would wait for those that hang. */
const AT_ONCE = 24;
/** So that writes share no commands, and each fault affects one write. */
const APART_MS = 30;

/** Retries a write until it succeeds; every other response must be 503. */
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

/** A command of a write, without its account. */
const stepOf = ({ name, collection }: MongodbCommand) => `${name} ${collection ?? ''}`.trim();

/** The accounts of each command: those in its filter, or that of its transaction. */
class Accounts {
  readonly #ofSession = new Map<string, string>();

  idsOf({ bytes, session = '', inTransaction }: MongodbCommand): string[] {
    // Concurrent calls are authenticated by one command.
    const named = bytes.toString('latin1').match(/user-[0-9a-f-]{36}/g) ?? [];
    for (const userId of named) this.#ofSession.set(session, userId);
    const known = inTransaction ? this.#ofSession.get(session) : undefined;
    return named.length > 0 || known === undefined ? [...new Set(named)] : [known];
  }
}

/** The commands that a write sends to MongoDB, in order. */
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

/** A command of a write that is to fail: its position and itself. */
interface Place {
  write: Write;
  /** The account after the write. */
  held: unknown;
  at: number;
  step: string;
}

let places: Promise<readonly Place[]> | undefined;

/** The commands of all writes, recorded once. */
function placesOf(proxied: ProxiedService): Promise<readonly Place[]> {
  return (places ??= findPlaces(proxied));
}

async function findPlaces(proxied: ProxiedService): Promise<Place[]> {
  const found: Place[] = [];
  for (const write of writes) {
    const garden = await gardenFor(proxied.service, write);
    const steps = await stepsOf(proxied, garden, write);
    // Known effects are compared when the write has its fault.
    const held = afterOne(write) ?? (await heldOf(proxied, garden, write));
    garden.client.close();
    // So that each write has a fault, even if not every command does.
    expect(steps.length).toBeGreaterThanOrEqual(STRIDE);
    found.push(...steps.map((step, at) => ({ write, held, at, step })));
  }
  return found;
}

/** The commands with a fault. */
async function placesFor(proxied: ProxiedService, fault: NetworkFault): Promise<Place[]> {
  const first = NETWORK_FAULTS.indexOf(fault) * STRIDE;
  const round = NETWORK_FAULTS.length * STRIDE;
  const all = await placesOf(proxied);
  return all.filter((_, index) => EVERY_COMMAND || index % round === first);
}

interface Case extends Place {
  garden: Garden;
}

/** Causes a fault at a command of each account, once; returns a function for how many are left. */
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

/** Tries a fault at commands of several accounts, one after another or concurrently. */
async function runTogether(
  proxied: ProxiedService,
  fault: NetworkFault,
  chosen: readonly Place[],
  areApart: boolean,
): Promise<void> {
  // The driver may not have recovered from the last fault, if that was at a command for which no response waits.
  await until(async () => (await fetch(`${proxied.service.url}/readyz`)).ok);
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
      // An attempt whose response was lost may have deleted it.
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

/** Faults that MongoDB's driver attributes to the server, and so to all connections. */
const CONCERNS_ALL = new Set<NetworkFault>(['garbage', 'cut']);
/** Faults that are tried at one command after another come first: they take longest. */
const LONGEST_FIRST = [...new Set([...CONCERNS_ALL, ...NETWORK_FAULTS])];

test('every request in this file is a write of the API', () => {
  expect(strangers).toEqual([]);
});

test.concurrent.each(LONGEST_FIRST)(
  'a write takes effect once, and gets 503 in time until then, with %s at any of its commands',
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
  // Garbage takes three seconds each time, after which the driver checks MongoDB again.
  1_200_000,
);
