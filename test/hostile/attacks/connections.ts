import type { Socket } from 'node:net';

import { ahead, type Attack, inTurn, open, openTcp, type Target, until } from './attack';

/** How long a connection is held that costs its client nothing. */
const SILENT_MS = 1000;

/** Sends some bytes, then others repeatedly. */
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

export const HALF_A_HEAD = 'GET /api/plants HTTP/1.1\r\nHost: x\r\n';

const anonymous = { authorization: undefined };

/** The worst that anyone can do who can reach the port. */
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
    path: '/docs/swagger-ui-bundle.js',
    headers: anonymous,
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
    method: 'POST',
    path: '/api/mcp',
    body: '{}',
    headers: { authorization: `Bearer ${token.slice(0, -4)}${1000 + index}` },
  })),
  'probes and metrics': inTurn((index) => ({
    path: ['/readyz', '/metrics', '/healthz'][index % 3] ?? '/',
    headers: anonymous,
  })),
};

/** The same with TLS. */
export const TLS_ATTACKS: Record<string, Attack> = {
  'a handshake that does not come': slow(openTcp, '\u0016\u0003\u0001'),
};
