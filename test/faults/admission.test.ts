import { once } from 'node:events';
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { listening } from '../support/listening';
import { errorOf, send } from '../support/raw';
import type { TestService, TestUser } from '../support/service';
import type { TlsSettings } from '../support/tls';
import {
  closeHttpServer,
  createHttpServer,
  logMany,
  storeLargest,
  startService,
  tlsSettings,
} from '../support/program';

let tls: TlsSettings;
let service: TestService;
let server: Server;
const sessions: ClientHttp2Session[] = [];

beforeAll(async () => {
  tls = tlsSettings();
  // Cached answers are there at once.
  service = await startService({ env: { ANSWER_CACHE_MB: '0' } });
  server = createHttpServer(service.app.requestListener(), tls.settings);
  await listening(server);
});
afterEach(() => {
  for (const session of sessions.splice(0)) session.destroy();
});
afterAll(async () => {
  await closeHttpServer(server, 10_000);
  await service.close();
  tls.remove();
});

/** A client that takes as much of each answer at once as its window holds. */
function client(initialWindowSize = 65_535): ClientHttp2Session {
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const session = connect(`https://localhost:${port}`, {
    ca: tls.ca,
    settings: { initialWindowSize },
  });
  session.on('error', () => undefined);
  sessions.push(session);
  return session;
}

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

function list(session: ClientHttp2Session, { token }: TestUser) {
  const stream = session.request({ ':path': '/api/plants', authorization: `Bearer ${token}` });
  stream.on('error', () => undefined);
  return stream;
}

/** Logs the care of a plant as of several; answers once the answer begins. */
function logCare(session: ClientHttp2Session, { token }: TestUser, plantId: string) {
  const stream = session.request({
    ...{ ':method': 'POST', ':path': '/api/events', 'content-type': 'application/json' },
    authorization: `Bearer ${token}`,
  });
  stream.on('error', () => undefined);
  stream.end(JSON.stringify({ plantIds: [plantId] }));
  return once(stream, 'response') as Promise<[IncomingHttpHeaders]>;
}

async function replyTo(session: ClientHttp2Session, user: TestUser): Promise<Reply> {
  const stream = list(session, user);
  let body = '';
  stream.on('data', (chunk: Buffer) => (body += chunk.toString()));
  const ended = once(stream, 'end');
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  await ended;
  return { status: Number(headers[':status']), headers, body };
}

/** As many lists as an account may have at once, that their client does not take. */
async function untakenLists(user: TestUser): Promise<ClientHttp2Session> {
  const session = client(0);
  const streams = Array.from({ length: 4 }, () => list(session, user));
  await Promise.all(streams.map((stream) => once(stream, 'response')));
  return session;
}

test('an account whose client takes no answers waits for its next ones; others do not', async () => {
  const [ada, bob] = [await service.user(), await service.user()];
  const untaken = await untakenLists(ada);
  let isAnswered = false;
  const waiting = replyTo(client(), ada).then((reply) => {
    isAnswered = true;
    return reply;
  });
  expect((await replyTo(client(), bob)).status).toBe(200);
  await sleep(300);
  expect(isAnswered).toBe(false);
  untaken.destroy();
  expect((await waiting).status).toBe(200);
});

test('logs of the care of many plants, whose answers are held, wait for those that are not taken', async () => {
  const user = await service.user();
  const { id } = await user.plant();
  const untaken = client(0);
  await Promise.all([logCare(untaken, user, id), logCare(untaken, user, id)]);
  let isAnswered = false;
  const waiting = logCare(client(), user, id).then(([headers]) => {
    isAnswered = true;
    return headers;
  });
  expect((await replyTo(client(), user)).status).toBe(200);
  expect(await user.event(id)).toMatchObject({ type: 'watered' });
  expect(isAnswered).toBe(false);
  untaken.destroy();
  expect(await waiting).toMatchObject({ ':status': 201 });
});

test('accounts whose clients take no answers keep nobody else from writing', async () => {
  const [ada, ...others] = await Promise.all(Array.from({ length: 8 }, () => service.user()));
  if (!ada) throw new Error('There is nobody.');
  for (const user of others) {
    const { id } = await user.plant();
    const untaken = client(0);
    await Promise.all([logCare(untaken, user, id), logCare(untaken, user, id)]);
  }
  const { id } = await ada.plant();
  expect((await logCare(client(), ada, id))[0]).toMatchObject({ ':status': 201 });
});

test('when too many calls of an account wait, or for too long, they are answered with 503', async () => {
  const user = await service.user();
  await untakenLists(user);
  const others = [client(), client(), client()];
  const replies = await Promise.all(
    Array.from({ length: 240 }, (_, index) => {
      const session = others[index % others.length];
      if (!session) throw new Error('There is no session.');
      return replyTo(session, user);
    }),
  );
  for (const { status, headers, body } of replies) {
    expect(status).toBe(503);
    expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(errorOf({ body }).code).toBe('service_unavailable');
  }
  const refused = replies.filter(({ body }) => body.includes('waiting already'));
  expect(refused).toHaveLength(40);
});

test('a client that goes away gives up its place among those that wait', async () => {
  const user = await service.user();
  const untaken = await untakenLists(user);
  for (let round = 0; round < 3; round += 1) {
    const gone = client();
    for (let count = 0; count < 90; count += 1) list(gone, user);
    await sleep(200);
    gone.destroy();
  }
  await sleep(200);
  const waiting = replyTo(client(), user);
  await sleep(200);
  untaken.destroy();
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
