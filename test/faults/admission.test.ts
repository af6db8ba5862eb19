import { get, type IncomingMessage, request, type RequestOptions } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { errorOf, send } from '../support/raw';
import type { TestService, TestUser } from '../support/service';
import { logMany, storeLargest, startService } from '../support/program';

let service: TestService;
const answers: IncomingMessage[] = [];

beforeAll(async () => {
  // Cached answers are there at once.
  service = await startService({ env: { ANSWER_CACHE_MB: '0' } });
});
afterEach(leave);
afterAll(() => service.close());

/** Closes the connections of all answers that nobody takes. */
function leave(): void {
  for (const answer of answers.splice(0)) answer.destroy();
}

/** Of how many of the largest plants a list, and logs of care, are longer than these buffers hold. */
const LISTED = 400;
const LOGGED = 100;

/** An account whose answers are longer than the buffers of two sockets hold. */
interface Hoarder extends Pick<TestUser, 'token'> {
  plantIds: string[];
  photoIds: string[];
}

async function hoarder(plants: number): Promise<Hoarder> {
  const user = await service.user();
  const { photoIds } = await storeLargest(service.app, user.id, { plants, events: 1 });
  const { text } = await user.get('/api/plant-summaries').expect(200);
  const summaries = JSON.parse(text) as { id: string }[]; // As the contract has them.
  const plantIds = summaries.map(({ id }) => id).slice(0, 100);
  return { token: user.token, plantIds, photoIds };
}

function optionsFor({ token }: Pick<TestUser, 'token'>): RequestOptions {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return { agent: false, headers };
}

/** Asks for a list of all plants; returns the head of the answer, of which nobody takes the rest. */
function list(user: Pick<TestUser, 'token'>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(`${service.url}/api/plants`, optionsFor(user), resolve).once('error', reject);
  });
}

/** Logs the care of many plants; returns the head of the answer, of which nobody takes the rest. */
function logCare(user: Pick<TestUser, 'token'>, given: object): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', ...optionsFor(user) };
    const sent = request(`${service.url}/api/events`, options, resolve).once('error', reject);
    sent.end(JSON.stringify(given));
  });
}

/** As many lists as an account may have at once, that their client does not take. */
async function untakenLists(user: Hoarder): Promise<void> {
  answers.push(...(await Promise.all(Array.from({ length: 4 }, () => list(user)))));
}

/** As many logs as an account may have at once, that their client does not take. */
async function untakenLogs(user: Hoarder): Promise<void> {
  const { plantIds, photoIds } = user;
  const log = () => logCare(user, { plantIds, photoIds });
  answers.push(...(await Promise.all([log(), log()])));
}

function replyTo(user: Pick<TestUser, 'token'>) {
  return send(service.url, 'GET', '/api/locations', {
    headers: { authorization: `Bearer ${user.token}` },
  });
}

test('an account whose client takes no answers waits for its next ones; others do not', async () => {
  const [ada, bob] = [await hoarder(LISTED), await service.user()];
  await untakenLists(ada);
  let isAnswered = false;
  const waiting = replyTo(ada).then((reply) => {
    isAnswered = true;
    return reply;
  });
  expect((await replyTo(bob)).status).toBe(200);
  await sleep(300);
  expect(isAnswered).toBe(false);
  leave();
  expect((await waiting).status).toBe(200);
});

test('logs of the care of many plants, whose answers are held, wait for those that are not taken', async () => {
  const user = await hoarder(LOGGED);
  await untakenLogs(user);
  let isAnswered = false;
  const waiting = logCare(user, { plantIds: user.plantIds.slice(0, 1) }).then((answer) => {
    isAnswered = true;
    return answer.resume();
  });
  expect((await replyTo(user)).status).toBe(200);
  await sleep(300);
  expect(isAnswered).toBe(false);
  leave();
  expect((await waiting).statusCode).toBe(201);
});

test('accounts whose clients take no answers keep nobody else from writing', async () => {
  for (let count = 0; count < 7; count += 1) await untakenLogs(await hoarder(LOGGED));
  const ada = await service.user();
  const { id } = await ada.plant();
  const answer = await logCare(ada, { plantIds: [id] });
  expect(answer.resume().statusCode).toBe(201);
});

test('when too many calls of an account wait, or for too long, they are answered with 503', async () => {
  const user = await hoarder(LISTED);
  await untakenLists(user);
  const replies = await Promise.all(Array.from({ length: 240 }, () => replyTo(user)));
  for (const { status, headers, body } of replies) {
    expect(status).toBe(503);
    expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(errorOf({ body }).code).toBe('service_unavailable');
  }
  const refused = replies.filter(({ body }) => body.includes('waiting already'));
  expect(refused).toHaveLength(40);
});

test('a client that goes away gives up its place among those that wait', async () => {
  const user = await hoarder(LISTED);
  await untakenLists(user);
  for (let round = 0; round < 3; round += 1) {
    const gone = Array.from({ length: 90 }, () =>
      get(`${service.url}/api/plants`, optionsFor(user)).on('error', () => undefined),
    );
    await sleep(200);
    for (const each of gone) each.destroy();
  }
  await sleep(200);
  const waiting = replyTo(user);
  await sleep(200);
  leave();
  expect((await waiting).status).toBe(200);
});

describe('at the usual budget of reads', () => {
  let paced: TestService;
  beforeAll(async () => {
    paced = await startService({ env: { RATE_LIMIT_READS_MAX: undefined } });
  });
  afterAll(() => paced.close());

  test('a long body counts as many calls, also where it is no JSON', async () => {
    const ada = await paced.user();
    const started = performance.now();
    const sendLong = async (): Promise<number> => {
      const { status } = await fetch(`${paced.url}/api/plants`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
        body: `{"name":"${'x'.repeat(100_000)}`,
      });
      return status;
    };
    // Each is as much as 13 calls: 240 at once, and the others at 240 a second.
    for (let count = 0; count < 40; count += 1) expect(await sendLong()).toBe(400);
    await ada.get('/api/locations').expect(200);
    expect(performance.now() - started).toBeGreaterThan(1100);
  });

  test('a search counts what it looks at, however short its answer is', async () => {
    const user = await paced.user();
    const { id } = await user.plant();
    await logMany(paced.app, user.id, { [id]: 5000 });
    const started = performance.now();
    // Each stands for half a megabyte, of which there are 2 MB a second and 1 MB ahead.
    for (let count = 0; count < 16; count += 1)
      await user.get(`/api/events?q=no${count}`).expect(200);
    expect(performance.now() - started).toBeGreaterThan(3000);
  });

  test('who asks whether large answers have changed does not wait as for the answers', async () => {
    const user = await paced.user();
    const { plantId } = await storeLargest(paced.app, user.id, { plants: 1, events: 10 });
    const path = `/api/plants/${plantId}/events?limit=100`;
    const { etag = '' } = (await user.get(path).expect(200)).headers as Record<string, string>;
    const ask = async () => user.get(path).set('If-None-Match', etag).expect(304);
    await Promise.all(Array.from({ length: 40 }, ask));
    const { url } = paced;
    const headers = { authorization: `Bearer ${user.token}` };
    const heads = Array.from({ length: 20 }, () => send(url, 'HEAD', path, { headers }));
    expect(new Set((await Promise.all(heads)).map(({ status }) => status))).toEqual(new Set([200]));
  });
});

test('many calls at once of one account are all answered', async () => {
  const user = await service.user();
  const answers = await Promise.all(Array.from({ length: 150 }, () => user.plant()));
  expect(new Set(answers.map(({ id }) => id)).size).toBe(150);
  const lists = await Promise.all(Array.from({ length: 100 }, () => user.get('/api/locations')));
  expect(new Set(lists.map(({ status }) => status))).toEqual(new Set([200]));
});
