import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Sharding } from '../../src/data/model/models';
import type { Operation } from '../../src/plugins/operation';
import type { MongodbCommand } from '../support/mongodb-commands';
import { namesShard } from '../support/shard-keys';
import type { ProxiedService } from '../support/proxied-service';
import {
  operationName,
  gardenOf,
  filtersOf,
  CLIENT_METHODS,
  commandsDuring,
  fullRequest,
  operationRows,
  startProxiedService,
  surfaceOf,
} from '../support/program';

/** The folder for the report on the commands of each operation, if any. */
const { REPORTS } = process.env;

/** The collection and path of the example plugin, which is not part of the program. */
const FIXTURE = 'chores';

/** Collections that a write reads concurrently, so at any place among its commands. */
const FENCE = 'migrations';

const INTRODUCTION = `# The commands to MongoDB

What each operation asks of MongoDB, in order, as \`make reports\` has seen it on the wire. Bodies have
every field. Commands of a transaction are in brackets. A read is hot if nothing was written since it
was last answered. Writes are sent without an \`Idempotency-Key\`; one adds a look-up before the
transaction, and two commands to it. Each transaction that writes also asks for migrations.find.

`;

let proxied: ProxiedService;

beforeAll(async () => {
  proxied = await startProxiedService({ jobs: false });
});
afterAll(() => proxied.close());

/** The commands that the program sends while `work` runs. */
async function sentDuring(work: () => Promise<unknown>): Promise<MongodbCommand[]> {
  const sent = await commandsDuring(proxied.proxy, work);
  return sent.filter(({ collection = '' }) => ![FIXTURE, FENCE].includes(collection));
}

function textsOf(commands: readonly MongodbCommand[]): string[] {
  return commands.map(({ name, collection, inTransaction }, index) => {
    const text = collection === undefined ? name : `${collection}.${name}`;
    const opens = inTransaction && commands[index - 1]?.inTransaction !== true;
    const closes = inTransaction && commands[index + 1]?.inTransaction !== true;
    return `${opens ? '[' : ''}${text}${closes ? ']' : ''}`;
  });
}

/** An operation, and the commands that it sends to MongoDB. */
interface Call {
  operation: Operation;
  cold: MongodbCommand[];
  hot: MongodbCommand[];
}

let called: Promise<Call[]> | undefined;

/** The commands of all operations, which are called once for all tests. */
function calls(): Promise<Call[]> {
  return (called ??= callAll());
}

/** Calls each operation that needs a token with every field; reads a second time, from the cache. */
async function callAll(): Promise<Call[]> {
  const all: Call[] = [];
  let user = await proxied.service.user();
  let ids = await gardenOf(user);
  for (const [, operation] of operationRows()) {
    if (operation.path.startsWith(`/api/${FIXTURE}`)) continue;
    const { method, path: target, body } = fullRequest(operation, ids);
    const call = () => user[CLIENT_METHODS[method]](target, body).expect(operation.response.status);
    // Increments the revision, and so invalidates cached responses.
    await user.photo();
    const cold = await sentDuring(call);
    const hot = method === 'GET' ? await sentDuring(call) : [];
    all.push({ operation, cold, hot });
    if (method !== 'DELETE') continue;
    // A deletion leaves work that reads would encounter.
    user = await proxied.service.user();
    ids = await gardenOf(user);
  }
  return all;
}

test('a cached read sends one query, for the account', async () => {
  const cacheable = (await calls()).filter(({ operation }) => operation.cacheable);
  expect(cacheable.length).toBeGreaterThan(0);
  const others = cacheable.filter(({ hot }) => textsOf(hot).join() !== 'accounts.find');
  expect(others.map(({ operation }) => operationName(operation))).toEqual([]);
});

test('a write reads the account, and does everything else in one transaction', async () => {
  const writes = (await calls()).filter(
    ({ operation }) => operation.method !== 'GET' && !operation.isOutside,
  );
  expect(writes.length).toBeGreaterThan(0);
  const others = writes.filter(({ cold }) => {
    const [account, ...rest] = textsOf(cold);
    return account !== 'accounts.find' || !/^\[[^[\]]+commitTransaction\]$/.test(rest.join());
  });
  expect(others.map(({ operation }) => operationName(operation))).toEqual([]);
});

if (REPORTS !== undefined) {
  test('the MongoDB commands of each operation are written to a report', async () => {
    const lines = [];
    for (const { operation, cold, hot } of await calls()) {
      const cells = [
        operationName(operation),
        textsOf(hot).join(', ') || '-',
        textsOf(cold).join(', '),
      ];
      lines.push(`| ${cells.join(' | ')} |`);
    }
    const table = ['| operation | hot | cold |', '| --- | --- | --- |', ...lines];
    mkdirSync(REPORTS, { recursive: true });
    writeFileSync(path.join(REPORTS, 'commands.md'), `${INTRODUCTION}${table.join('\n')}\n`);
  });
}

test('every query of an operation names what determines its shard', async () => {
  const { collections } = surfaceOf(proxied.service.app);
  const shardings = new Map<string | undefined, Sharding>(
    collections.map(({ name, sharding }) => [name, sharding]),
  );
  const elsewhere: string[] = [];
  for (const { operation, cold } of await calls()) {
    for (const command of cold) {
      const { name, collection } = command;
      const sharding = shardings.get(collection);
      if (sharding === undefined || 'oneShard' in sharding) continue;
      const key = sharding.shardKey;
      const isOnOneShard = filtersOf(command).every((filter) => namesShard(filter, key));
      if (!isOnOneShard) elsewhere.push(`${operationName(operation)}: ${collection}.${name}`);
    }
  }
  expect(elsewhere).toEqual([]);
});

test('events that are logged concurrently share their commands', async () => {
  const user = await proxied.service.user();
  const plant = await user.plant();
  await user.event(plant.id);
  const log = (count: number) =>
    sentDuring(() => Promise.all(Array.from({ length: count }, () => user.event(plant.id))));
  const inTransactions = (commands: readonly MongodbCommand[]) =>
    commands.filter(({ inTransaction }) => inTransaction).length;
  // The first is sent alone; those that arrive meanwhile are sent together.
  const one = inTransactions(await log(1));
  expect(inTransactions(await log(40))).toBeLessThan(6 * one);
});
