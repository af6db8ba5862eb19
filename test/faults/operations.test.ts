import { once } from 'node:events';
import { connect, createServer } from 'node:net';

import { listening } from '../support/listening';
import { scrape, valueOf } from '../support/metrics';
import { until, freePort } from '../support/processes';
import {
  giveBack,
  takeDatabase,
  dataDirectory,
  RealServer,
  removeDataDirectory,
} from '../support/program';

let mongodbUri: string;
let dataDir: string;
let port: number;
let adminPort: number;
let server: RealServer;

/** The MongoDB and Redis of the tests. */
function given(): NodeJS.ProcessEnv {
  return { MONGODB_URI: mongodbUri, REDIS_URL: process.env['TEST_REDIS_URL'] };
}

beforeAll(async () => {
  mongodbUri = takeDatabase();
  dataDir = await dataDirectory();
  port = await freePort();
  adminPort = await freePort();
  const ports = { METRICS_PORT: String(port), ADMIN_PORT: String(adminPort) };
  server = await RealServer.start(dataDir, { ...given(), ...ports });
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  await removeDataDirectory(dataDir);
  await giveBack(mongodbUri);
});

test('METRICS_PORT serves only metrics and probes, and the main port everything except the metrics', async () => {
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
  // Requests that the parser refuses are counted too, on every port.
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.end('nonsense\r\n\r\n').resume();
  await once(socket, 'close');
  expect(valueOf(await scrape(own), 'plantcare_http_refusals_total', { status: '400' })).toBe(1);
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  const document = await (await fetch(`${server.url}/openapi.json`)).json();
  expect(document).not.toHaveProperty(['paths', '/metrics']);
});

test('ADMIN_PORT serves only the operations of backends and probes, and the main port everything else', async () => {
  const own = `http://127.0.0.1:${adminPort}`;
  const document = await (await fetch(`${server.url}/openapi.json`)).json();
  for (const [path, method] of [
    ['/api/accounts', 'GET'],
    ['/api/accounts/ada', 'PUT'],
    ['/api/accounts/ada/tokens', 'POST'],
  ] as const) {
    expect((await fetch(`${own}${path}`, { method })).status).toBe(401);
    expect((await fetch(`${server.url}${path}`, { method })).status).toBe(404);
  }
  expect(Object.keys((document as { paths: object }).paths).join()).not.toContain('/api/accounts');
  expect((await fetch(`${own}/healthz`)).status).toBe(200);
  for (const other of ['/openapi.json', '/metrics', '/api/plants', '/api/account', '/api/mcp']) {
    expect((await fetch(`${own}${other}`)).status).toBe(404);
  }
  expect((await fetch(`${server.url}/api/plants`)).status).toBe(401);
  expect((await fetch(`http://127.0.0.1:${port}/api/accounts`)).status).toBe(404);
});

test('METRICS_PORT has few connections, which do not count against those of the API', async () => {
  const sockets = Array.from({ length: 60 }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => undefined).resume();
  await until(() => sockets.filter(({ closed }) => closed).length >= 20);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  await until(() =>
    scrape(`http://127.0.0.1:${port}`).then(
      () => true,
      () => false,
    ),
  );
});

test('a METRICS_PORT that is in use is reported in one sentence', async () => {
  const other = createServer();
  const used = await listening(other);
  const failing = RealServer.spawn(dataDir, { ...given(), METRICS_PORT: String(used) });
  const { code } = await failing.ended;
  other.close();
  expect(code).toBe(1);
  expect(failing.stderr).toBe(
    `Port ${used} on 127.0.0.1 is already in use; set METRICS_PORT to another port.\n`,
  );
});
