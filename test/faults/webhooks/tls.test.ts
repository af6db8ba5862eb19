import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { Receiver, verify } from '../../../plugins/webhooks/test/receiver';
import { makeCertificate } from '../../support/certificate';
import { Client, record, records } from '../../support/client';
import { until } from '../../support/processes';
import {
  accountsPlugin,
  asOperator,
  dataDirectory,
  RealServer,
  removeDataDirectory,
} from '../../support/program';

let dataDir: string;
let server: RealServer;
let trusted: Receiver;
let foreign: Receiver;
let shop: Client;

beforeAll(async () => {
  dataDir = await dataDirectory();
  const authority = path.join(dataDir, 'authority.pem');
  const [good, bad] = [makeCertificate(), makeCertificate()];
  await writeFile(authority, good.cert);
  [trusted, foreign] = [await Receiver.start(good), await Receiver.start(bad)];
  const env = { WEBHOOK_ALLOW_PRIVATE: 'true', NODE_EXTRA_CA_CERTS: authority };
  server = await RealServer.start(dataDir, env);
  const { token } = await asOperator(dataDir, (app) =>
    app.exportsOf(accountsPlugin).tokens.createToken({
      userId: '~shop',
      scopes: ['accounts:manage'],
      name: 'test',
      expiresInSeconds: 3600,
    }),
  );
  shop = new Client(server.url, token);
});
afterAll(async () => {
  shop.close();
  await trusted.close();
  await foreign.close();
  await server.stop();
  await removeDataDirectory(dataDir);
});

/** Sends a test to a new webhook at a URL; returns the delivery once it was attempted, and the secret. */
async function tried(url: string) {
  const body = { url, events: ['account.deleted'] };
  const made = record((await shop.send('POST', '/api/webhooks', { body })).body);
  const webhook = `/api/webhooks/${String(made['id'])}`;
  await shop.send('POST', `${webhook}/test`);
  const first = async () => {
    const { body: list } = await shop.send('GET', `${webhook}/deliveries`);
    return record(records(record(list)['items'])[0]);
  };
  await until(async () => Number((await first())['attempts']) > 0);
  return { delivery: await first(), secret: String(made['secret']) };
}

test('deliveries use TLS, and fail if the certificate is not trusted', async () => {
  const good = await tried(`${trusted.url}/hooks`);
  expect(good.delivery).toMatchObject({ status: 'delivered', responseStatus: 204, error: null });
  const [message] = trusted.received;
  expect(message?.body['type']).toBe('webhook.test');
  if (message) verify(good.secret, message);
  const bad = await tried(`${foreign.url}/hooks`);
  expect(bad.delivery).toMatchObject({
    status: 'waiting',
    responseStatus: null,
    error: expect.stringMatching(/^The connection failed \([A-Z_]+\)\.$/) as string,
  });
  expect(foreign.received).toEqual([]);
});
