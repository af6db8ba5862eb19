import type { Operation } from '../../src/plugins/operation';
import { resetClock, setClock } from '../support/clock';
import type { Ids } from '../support/operations';
import {
  accountsPlugin,
  CLIENT_METHODS,
  gardenOf,
  operationRows,
  Garden,
  startService,
  success,
  userOf,
  validRequest,
} from '../support/program';
import type { TestService, TestUser } from '../support/service';

let service: TestService;
let twin: TestService;
let without: TestService;
let user: TestUser;
let ids: Ids;

beforeAll(async () => {
  service = await startService();
  const { mongodbUri } = service;
  // Another process, and one without a cache.
  twin = await startService({ mongodbUri });
  without = await startService({ mongodbUri, env: { ANSWER_CACHE_MB: '0' }, jobs: false });
});
afterEach(resetClock);
afterAll(async () => {
  await without.close();
  await twin.close();
  await service.close();
});

/** Of the test's own user. */
async function growGarden(): Promise<void> {
  // The clock is set years ahead.
  user = await service.user({ expiresInSeconds: 10 * 365 * 24 * 3600 });
  ids = await gardenOf(user);
}

const rows = operationRows();
const reads = rows
  .filter(([, { access, method }]) => method === 'GET' && 'scope' in access)
  // These change with each read: the time of an export, the last use of a token.
  .filter(([, { path }]) => !path.startsWith('/api/account/'));
const writes = rows.filter(([, { method }]) => method !== 'GET');

/** The responses of both processes with a cache, each beside an uncached one. */
async function expectFresh(moment: string): Promise<void> {
  // Concurrently, so that accounts are read together.
  await Promise.all(reads.map(([name, operation]) => expectFreshAnswer(moment, name, operation)));
}

async function expectFreshAnswer(moment: string, name: string, operation: Operation) {
  const { path } = validRequest(operation, ids);
  const answerOf = async ({ url }: TestService) => {
    const { status, text } = await userOf(url, user.id, user.token).get(path);
    return `${status} ${text}`;
  };
  const [fresh, ...answers] = await Promise.all([without, service, twin].map(answerOf));
  let right = fresh;
  for (const [index, caching] of [service, twin].entries()) {
    let answer = answers[index];
    while (answer !== right) {
      // The right response may change meanwhile, since the events of a deleted plant are deleted gradually.
      const before = right;
      answer = await answerOf(caching);
      right = await answerOf(without);
      if (right === before) break;
    }
    expect([moment, name, answer]).toEqual([moment, name, right]);
  }
}

test('after a write through one process, no process returns an outdated response', async () => {
  await growGarden();
  const garden = new Garden(user);
  await expectFresh('at first');
  for (const [index, [name, operation]] of writes.entries()) {
    const { method, path, body } = validRequest(operation, ids);
    const writer = userOf(index % 2 === 0 ? twin.url : service.url, user.id, user.token);
    await writer[CLIENT_METHODS[method]](path, body).expect(operation.response.status);
    await expectFresh(`after ${name}`);
    if (operation.response.schema !== success) continue;
    garden.called(operation);
    ids = await garden.ids();
  }
});

test('responses that depend on the account change with it at once', async () => {
  await growGarden();
  await expectFresh('at first');
  const accounts = twin.app.exportsOf(accountsPlugin);
  await accounts.changeAccount(user.id, { timezone: 'Pacific/Kiritimati' });
  await expectFresh('in another time zone');
  await accounts.changeAccount(user.id, { tier: 'free' });
  await expectFresh('in another tier');
});

test.each(['2030-01-01T10:59:59Z', '2030-06-30T23:59:59Z'])(
  'responses that change with time are not outdated (%s)',
  async (moment) => {
    await growGarden();
    await service.app
      .exportsOf(accountsPlugin)
      .changeAccount(user.id, { timezone: 'Pacific/Pago_Pago' });
    setClock(moment);
    await user.event(ids['plant'] ?? '', { occurredAt: moment });
    await expectFresh(moment);
    for (const seconds of [1, 24 * 3600, 24 * 3600 + 1, 370 * 24 * 3600]) {
      setClock(new Date(Date.parse(moment) + seconds * 1000).toISOString());
      await expectFresh(`${seconds} s after ${moment}`);
    }
    setClock(moment);
    await expectFresh(`${moment} again, after a clock that was wrong`);
  },
);
