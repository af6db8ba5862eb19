import { connect as connectHttp2, constants } from 'node:http2';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { ahead, type Attack, HELD_MS, inTurn, open, openTcp, type Target, until } from './attack';

/** How long a connection is held that costs its client nothing at all. */
const SILENT_MS = 1000;

/** Sends so much and no more; then so much again and again. */
function slow(
  connect: (target: Target) => Socket,
  first: string | Buffer,
  again?: { bytes: string; everyMs: number },
): Attack {
  return async (target) => {
    const socket = connect(target);
    socket.write(first);
    const timer = again && setInterval(() => socket.write(again.bytes), again.everyMs);
    await until(socket, SILENT_MS);
    clearInterval(timer);
  };
}

export const openHttp2 = (target: Target): Socket => open(target, 'h2');
const HEADERS = 1;
const SETTINGS = 4;
/** A frame of HTTP/2 without flags (RFC 9113, 4.1). */
function frame(type: number, payload: Buffer, stream = 0): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
export const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(SETTINGS, Buffer.alloc(0)),
]);

export const HALF_AN_HTTP2_HEAD = Buffer.concat([PREFACE, frame(HEADERS, Buffer.from([0x82]), 1)]);
export const HALF_A_HEAD = 'GET /api/plants HTTP/1.1\r\nHost: x\r\n';

/** As many streams as the server takes, none of them read, some reset at once. */
const streams: Attack = async ({ url, ca, token, plantId }) => {
  const session = connectHttp2(url, { ca, settings: { initialWindowSize: 0 } });
  session.on('error', () => undefined);
  for (let stream = 0; stream < 100; stream += 1) {
    const request = session.request({
      ':path': `/api/plants/${plantId}/events?limit=100`,
      authorization: `Bearer ${token}`,
    });
    request.on('error', () => undefined);
    if (stream % 2 === 0) request.close(constants.NGHTTP2_CANCEL);
  }
  await sleep(HELD_MS);
  session.destroy();
};

const anonymous = { authorization: undefined };

/** What anybody can do who reaches the port. */
export const CONNECTION_ATTACKS: Record<string, Attack> = {
  'a connection that says nothing': slow(openTcp, ''),
  'half of a head': slow(open, HALF_A_HEAD),
  'a head that comes byte by byte': slow(open, 'GET / HTTP/1.1\r\na: ', {
    bytes: 'x',
    everyMs: 10,
  }),
  'empty lines': slow(open, '', { bytes: '\r\n', everyMs: 10 }),
  'a body that does not come': slow(
    open,
    'POST /api/plants HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{"name":"',
  ),
  CONNECT: slow(open, 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'),
  'no HTTP': slow(open, '\u0000'.repeat(20_000)),
  'a head that is too large': inTurn(() => ({ path: '/', headers: { a: 'x'.repeat(20_000) } })),
  'documents sent ahead': ahead(100, () => ({ path: '/openapi.json', headers: anonymous }), {
    everyMs: 1,
  }),
  'documents that are not read': ahead(100, () => ({
    ...{ path: '/docs/swagger-ui-bundle.js', headers: anonymous },
  })),
  'documents, compressed': inTurn((index) => ({
    path: index % 2 === 0 ? '/openapi.json' : '/docs/swagger-ui-bundle.js',
    headers: { ...anonymous, 'accept-encoding': 'br' },
  })),
  'no token': inTurn(() => ({ path: '/api/plants', headers: anonymous })),
  'tokens that are guessed': inTurn((index, { token }) => ({
    path: '/api/plants',
    headers: { authorization: `Bearer ${token.slice(0, -4)}${1000 + index}` },
  })),
  'tokens that are guessed, of tools': inTurn((index, { token }) => ({
    ...{ method: 'POST', path: '/api/mcp', body: '{}' },
    headers: { authorization: `Bearer ${token.slice(0, -4)}${1000 + index}` },
  })),
  'probes and metrics': inTurn((index) => ({
    path: ['/readyz', '/metrics', '/healthz'][index % 3] ?? '/',
    headers: anonymous,
  })),
};

/** The same, where there is TLS. */
export const TLS_ATTACKS: Record<string, Attack> = {
  'a handshake that does not come': slow(openTcp, '\u0016\u0003\u0001'),
  'HTTP/2 that says nothing': slow(openHttp2, ''),
  'an idle HTTP/2 session': slow(openHttp2, PREFACE),
  'half of an HTTP/2 head': slow(openHttp2, HALF_AN_HTTP2_HEAD),
  'HTTP/2 streams': streams,
};
