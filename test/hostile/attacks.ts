import { randomUUID } from 'node:crypto';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

import { DAY_MS } from '../../src/core/time';

/** Where an attack goes, and by whom. */
export interface Target {
  url: string;
  /** The certificate to trust, under HTTPS. */
  ca: string | undefined;
  token: string;
  plantId: string;
}

interface Message {
  method?: string;
  path: string;
  body?: string;
  headers?: Record<string, string>;
}

/** One attack on one connection, until it has nothing more to do; connection errors end it. */
export type Attack = (target: Target) => Promise<void>;

/** How long a connection is held whose answers nobody takes. */
const HELD_MS = 5000;

/** Requests on a connection before it makes place for another attack. */
const REQUESTS = 50;

function open({ url, ca }: Target): Socket {
  const port = Number(new URL(url).port);
  const socket =
    ca === undefined
      ? connectTcp(port, '127.0.0.1')
      : connectTls({ port, host: 'localhost', ca, ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => socket.destroy());
  return socket;
}

function bytesOf({ token }: Target, { method = 'GET', path, body = '', headers = {} }: Message) {
  const all = {
    host: 'localhost',
    authorization: `Bearer ${token}`,
    ...(body === '' ? {} : { 'content-type': 'application/json' }),
    ...(method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Until a connection is over, but no longer than that. */
async function until(socket: Socket, ms: number): Promise<void> {
  const over = new Promise((resolve) => socket.once('close', resolve));
  await Promise.race([over, sleep(ms)]);
  socket.destroy();
}

/** Sends messages one after the other as fast as they are answered. */
function inTurn(messages: (index: number, target: Target) => Message): Attack {
  return async (target) => {
    const socket = open(target);
    let sent = 0;
    let unseen = '';
    const sendNext = (): void => {
      if (sent === REQUESTS) socket.destroy();
      else socket.write(bytesOf(target, messages(sent, target)));
      sent += 1;
    };
    sendNext();
    socket.on('data', (chunk: Buffer) => {
      // Each answer has one status line; the next request goes as soon as the first bytes are there.
      const seen = unseen + chunk.toString('latin1');
      const answers = seen.split('HTTP/1.1 ').length - 1;
      unseen = seen.slice(-8);
      for (let answer = 0; answer < answers; answer += 1) sendNext();
    });
    await until(socket, HELD_MS);
  };
}

/** Sends many messages ahead, and takes so much of the answers in so much time. */
function ahead(
  count: number,
  message: (target: Target) => Message,
  slowly?: { everyMs: number },
): Attack {
  return async (target) => {
    const socket = open(target);
    socket.pause();
    socket.write(bytesOf(target, message(target)).repeat(count));
    const timer = slowly && setInterval(() => socket.read(16_384) as unknown, slowly.everyMs);
    await until(socket, HELD_MS);
    clearInterval(timer);
  };
}

const largestPage = ({ plantId }: Target): Message => ({
  path: `/api/plants/${plantId}/events?limit=100`,
});
const post = (path: string, body: object | string, headers?: Record<string, string>): Message => ({
  ...{ method: 'POST', path },
  body: typeof body === 'string' ? body : JSON.stringify(body),
  ...(headers ? { headers } : {}),
});
const callTool = (name: string, given: object): Message =>
  post('/api/mcp', {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: given },
  });
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const manyFields = JSON.stringify(
  Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [`f${index}`, index])),
);
const KEY = randomUUID();

/** HTTP/2: as many streams as the server takes, none of them read, some reset at once. */
const streams: Attack = async (target) => {
  const session = connectHttp2(target.url, { ca: target.ca, settings: { initialWindowSize: 0 } });
  session.on('error', () => undefined);
  for (let stream = 0; stream < 100; stream += 1) {
    const request = session.request({
      ':path': largestPage(target).path,
      authorization: `Bearer ${target.token}`,
    });
    request.on('error', () => undefined);
    if (stream % 2 === 0) request.close(constants.NGHTTP2_CANCEL);
  }
  await sleep(HELD_MS);
  session.destroy();
};

/** What an account can do over REST and by tools, at its worst. */
export const ATTACKS: Record<string, Attack> = {
  'largest pages, read': inTurn((_, target) => largestPage(target)),
  'largest pages, each another': inTurn((index, { plantId }) => ({
    path: `/api/plants/${plantId}/events?limit=${100 - (index % 90)}`,
  })),
  'largest pages, read slowly': ahead(20, largestPage, { everyMs: 50 }),
  'largest pages, not read': ahead(20, largestPage),
  'all plants, not read': ahead(20, () => ({ path: '/api/plants' })),
  'largest pages by tool': inTurn((_, { plantId }) =>
    callTool('list_events', { id: plantId, limit: 100 }),
  ),
  'tools, not read': ahead(20, () => callTool('list_plants', {})),
  'deep JSON': inTurn(() => post('/api/plants', `{"name":${nested(50_000)}}`)),
  'deep JSON by tool': inTurn(() => post('/api/mcp', nested(50_000))),
  'bodies full of faults': inTurn(() => post('/api/plants', manyFields)),
  'bodies that are no JSON': inTurn(() => post('/api/plants', `{"name":"${'x'.repeat(100_000)}`)),
  'small requests sent ahead': ahead(100, () => ({ path: '/api/locations' }), { everyMs: 1 }),
  'keys with large answers': inTurn((index, { plantId }) =>
    post(
      `/api/plants/${plantId}/events`,
      { text: '\u0001'.repeat(2000) },
      { 'idempotency-key': `${KEY} ${index % 10}` },
    ),
  ),
  'cursors that are made up': inTurn((index, { plantId }) => ({
    path: `/api/plants/${plantId}/events?cursor=${Buffer.alloc(3000, index).toString('base64url')}`,
  })),
  months: inTurn((_, { plantId }) => ({
    path: `/api/plants/${plantId}/events/month?monthStart=0&monthEnd=31622400000`,
  })),
  'insights over thousands of days': inTurn((index, { plantId }) =>
    index % 2 === 0
      ? post(`/api/plants/${plantId}/events`, {
          occurredAt: new Date(Math.floor(Math.random() * 20_000) * DAY_MS).toISOString(),
        })
      : { path: '/api/insights' },
  ),
};

/** The same, and what only HTTP/2 has. */
export function attacksOn({ ca }: Target): [name: string, attack: Attack][] {
  return Object.entries(ca === undefined ? ATTACKS : { ...ATTACKS, 'HTTP/2 streams': streams });
}
