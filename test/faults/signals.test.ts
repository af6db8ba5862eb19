import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect as connectTls } from 'node:tls';

import { PROJECT } from '../../src/core/settings/project';
import { makeCertificate } from '../support/certificate';
import { until } from '../support/processes';
import {
  giveBack,
  takeDatabase,
  dataDirectory,
  RealServer,
  removeDataDirectory,
  tlsSettings,
} from '../support/program';

const started: RealServer[] = [];
let dataDir: string;
let mongodbUri: string;

beforeAll(() => {
  mongodbUri = takeDatabase();
});
afterAll(() => giveBack(mongodbUri));
beforeEach(async () => {
  dataDir = await dataDirectory();
});
afterEach(async () => {
  for (const server of started.splice(0)) await server.kill();
  await removeDataDirectory(dataDir);
});

/** A server on the MongoDB and Redis of the tests. */
async function startServer(env: NodeJS.ProcessEnv = {}): Promise<RealServer> {
  const given = { MONGODB_URI: mongodbUri, REDIS_URL: process.env['TEST_REDIS_URL'] };
  const server = await RealServer.start(dataDir, { ...given, LOG_LEVEL: 'info', ...env });
  started.push(server);
  return server;
}

async function statusOf(server: RealServer, path: string): Promise<[number, string | null]> {
  const answer = await fetch(`${server.url}${path}`);
  await answer.text();
  return [answer.status, answer.headers.get('connection')];
}

test('during SHUTDOWN_DELAY_SECONDS /readyz is 503, and everything else works', async () => {
  const server = await startServer({ SHUTDOWN_DELAY_SECONDS: '3' });
  expect(await statusOf(server, '/readyz')).toEqual([200, 'keep-alive']);
  const stopping = performance.now();
  server.process.kill('SIGTERM');
  const isDraining = async () => (await statusOf(server, '/readyz'))[0] === 503;
  await until(isDraining);
  expect(await statusOf(server, '/healthz')).toEqual([200, 'close']);
  expect(await statusOf(server, '/api/plants')).toEqual([401, 'close']);
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - stopping).toBeGreaterThan(3000);
});

test('SIGHUP does not stop a server without TLS, and a second signal to stop ends the delay', async () => {
  const server = await startServer({ SHUTDOWN_DELAY_SECONDS: '600' });
  server.process.kill('SIGHUP');
  const said = () => server.stderr.includes('There is no certificate to reload');
  await until(said);
  expect(await statusOf(server, '/readyz')).toEqual([200, 'keep-alive']);
  server.process.kill('SIGINT');
  const isDraining = async () => (await statusOf(server, '/readyz'))[0] === 503;
  await until(isDraining);
  server.process.kill('SIGINT');
  expect(await server.ended).toEqual({ code: 0, signal: null });
});

test('after SIGHUP, new connections get the new certificate; a pair that does not match is refused', async () => {
  const tls = tlsSettings();
  const { TLS_CERT_FILE: certFile = '', TLS_KEY_FILE: keyFile = '' } = tls.env;
  const server = await startServer(tls.env);
  const linesWith = (text: string) =>
    server.stderr.split('\n').filter((line) => line.includes(text));
  const servedCertificate = async (): Promise<string> => {
    const socket = connectTls({
      port: Number(new URL(server.url).port),
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect');
    const { raw } = socket.getPeerCertificate();
    socket.destroy();
    return raw.toString('base64');
  };
  const reload = async (cert: string, key: string, says: string): Promise<void> => {
    await writeFile(certFile, cert);
    await writeFile(keyFile, key);
    const before = linesWith(says).length;
    server.process.kill('SIGHUP');
    await until(() => linesWith(says).length > before);
  };
  const first = await servedCertificate();
  const next = makeCertificate();
  await reload(next.cert, next.key, 'The certificate was reloaded');
  const second = await servedCertificate();
  expect(second).not.toBe(first);
  expect(next.cert.replace(/\n/g, '')).toContain(second);

  const notReloaded = 'The certificate could not be reloaded';
  await reload(makeCertificate().cert, next.key, notReloaded);
  await reload('no certificate', next.key, notReloaded);
  expect(
    linesWith(notReloaded).map((line) => (JSON.parse(line) as { reason: string }).reason),
  ).toEqual([
    'TLS_KEY_FILE is not the private key of TLS_CERT_FILE',
    expect.stringMatching(/^TLS_CERT_FILE is no certificate: /),
  ]);
  expect(await servedCertificate()).toBe(second);
  const [expired, early] = [makeCertificate(-0.5), makeCertificate(9, 'ec', 2048, 3)];
  for (const { cert, key } of [expired, early]) await reload(cert, key, notReloaded);
  expect(
    linesWith(notReloaded)
      .slice(2)
      .map((line) => (JSON.parse(line) as { reason: string }).reason),
  ).toEqual([
    expect.stringMatching(/^The certificate in TLS_CERT_FILE expired on \d{4}-\d\d-\d\d$/),
    expect.stringMatching(/^The certificate in TLS_CERT_FILE is not valid before \d{4}-/),
  ]);
  expect(await servedCertificate()).toBe(second);
  tls.remove();
  server.process.kill('SIGHUP');
  await until(() => linesWith(notReloaded).length === 5);
  expect(await servedCertificate()).toBe(second);
});

test.each([
  ['has expired', -0.5, 'expired on'],
  ['is valid', 1, undefined],
])('a server whose certificate %s says so when it starts', async (_what, days, says) => {
  const tls = tlsSettings(days);
  const server = await startServer(tls.env);
  await until(() => server.stderr.includes('The service is ready'));
  // Lines that follow: a signal is handled after the start.
  server.process.kill('SIGTERM');
  await server.ended;
  const warned = server.stderr.split('\n').filter((line) => line.includes('TLS_CERT_FILE'));
  expect(warned).toHaveLength(says === undefined ? 0 : 1);
  if (says !== undefined) expect(warned[0]).toContain(says);
  tls.remove();
});

test.each([
  ['--version', 0, new RegExp(`^${PROJECT.version}\n$`), /^$/],
  ['--help', 0, /^Usage: node dist\/src\/main\.js \[options\]\n[^]*--version/, /^$/],
  ['--serve', 2, /^$/, /^Unknown option --serve\. [^\n]*\n$/],
])('the server with %s exits with %i, and starts nothing', async (option, code, stdout, stderr) => {
  const server = RealServer.spawn(dataDir, { PORT: 'wrong' }, undefined, [option]);
  expect(await server.ended).toEqual({ code, signal: null });
  expect(server.stdout).toMatch(stdout);
  expect(server.stderr).toMatch(stderr);
});
