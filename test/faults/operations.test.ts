import { once } from 'node:events';
import { connect } from 'node:net';

import { scrape, valueOf } from '../support/metrics';
import { eventually, freePort } from '../support/processes';
import { dataDirectory, RealServer, removeDataDirectory, tokensOf } from '../support/real-server';

let dataDir: string;
let server: RealServer | undefined;

beforeEach(async () => {
  dataDir = await dataDirectory();
});
afterEach(async () => {
  if (server?.process.exitCode === null) await server.stop();
  server = undefined;
  await removeDataDirectory(dataDir);
});

/** The lines of its log, of those that are JSON. */
function linesOf({ stderr }: RealServer): Record<string, unknown>[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a server that stops says so, how many requests it cut, and when it is done', async () => {
  server = await RealServer.start(dataDir, { LOG_LEVEL: 'info' });
  const [token = ''] = await tokensOf(dataDir, ['ada']);
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  // It announces a body that never comes.
  const head = ['POST /api/plants HTTP/1.1', 'Host: x', `Authorization: Bearer ${token}`];
  const body = ['Content-Type: application/json', 'Content-Length: 100'];
  socket.write(`${[...head, ...body].join('\r\n')}\r\n\r\n{`);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  await eventually(async () => {
    const metrics = await scrape(server?.url ?? '');
    return (valueOf(metrics, 'plantcare_mongodb_connections', { state: 'open' }) ?? 0) > 0;
  });
  expect(await server.stop()).toBe(0);
  socket.destroy();
  const said = linesOf(server).filter(({ msg }) =>
    ['stopping', 'drained', 'stopped'].includes(String(msg)),
  );
  expect(said).toMatchObject([
    { level: 'info', msg: 'stopping' },
    { level: 'info', msg: 'drained', cut: 1 },
    { level: 'info', msg: 'stopped' },
  ]);
}, 90_000);

test('METRICS_PORT serves the metrics, probes and nothing else, and the main port all but the metrics', async () => {
  const port = await freePort();
  server = await RealServer.start(dataDir, { METRICS_PORT: String(port) });
  const own = `http://127.0.0.1:${port}`;
  const metrics = await scrape(own);
  expect(valueOf(metrics, 'plantcare_data_dir_free_bytes')).toBeGreaterThan(0);
  expect(valueOf(metrics, 'plantcare_log_lines_dropped_total')).toBe(0);
  expect(valueOf(metrics, 'process_resident_memory_bytes')).toBeGreaterThan(0);
  for (const probe of ['/healthz', '/readyz']) {
    expect((await fetch(`${own}${probe}`)).status).toBe(200);
  }
  for (const other of ['/openapi.json', '/api/plants']) {
    expect((await fetch(`${own}${other}`)).status).toBe(404);
  }
  // What the parser refuses is counted too, on whichever port.
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.end('nonsense\r\n\r\n').resume();
  await once(socket, 'close');
  expect(valueOf(await scrape(own), 'plantcare_http_refusals_total', { status: '400' })).toBe(1);
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  const document = await (await fetch(`${server.url}/openapi.json`)).json();
  expect(document).not.toHaveProperty(['paths', '/metrics']);
}, 90_000);

test('a METRICS_PORT has few connections, which do not keep others from the API', async () => {
  const port = await freePort();
  server = await RealServer.start(dataDir, { METRICS_PORT: String(port) });
  const sockets = Array.from({ length: 60 }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => undefined).resume();
  await eventually(() => sockets.filter(({ closed }) => closed).length >= 20);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  for (const socket of sockets) socket.destroy();
}, 90_000);

test('a METRICS_PORT in use is reported in one sentence', async () => {
  server = await RealServer.start(dataDir);
  const { port } = new URL(server.url);
  const other = await dataDirectory();
  try {
    const failing = RealServer.spawn(other, { METRICS_PORT: port });
    expect((await failing.ended).code).toBe(1);
    expect(failing.stderr).toBe(
      `Port ${port} on 127.0.0.1 is in use; set METRICS_PORT to another one.\n`,
    );
  } finally {
    await removeDataDirectory(other);
  }
}, 90_000);
