import { once } from 'node:events';
import { connect, type SecureVersion, type TLSSocket } from 'node:tls';

import { listening } from '../support/listening';
import { closeHttpServer, createHttpServer, tlsSettings } from '../support/program';

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The kind of key in the certificate, which determines the suites of TLS 1.2. */
type Key = 'ec' | 'rsa';

/** Connects with one version of TLS, and only some of its cipher suites. */
async function dial(key: Key, version: SecureVersion, ciphers?: string): Promise<TLSSocket> {
  const tls = tlsSettings(1, key);
  closing.push(() => {
    tls.remove();
  });
  const server = createHttpServer((_request, response) => response.end(), tls.settings);
  closing.push(() => closeHttpServer(server, 10_000));
  const socket = connect({
    port: await listening(server),
    host: '127.0.0.1',
    servername: 'localhost',
    ca: tls.ca,
    minVersion: version,
    maxVersion: version,
    ...(ciphers ? { ciphers } : {}),
  });
  closing.push(() => socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

test.each([
  ['ec', 'TLSv1.3', undefined],
  ['ec', 'TLSv1.2', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['ec', 'TLSv1.2', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['rsa', 'TLSv1.3', undefined],
  ['rsa', 'TLSv1.2', 'ECDHE-RSA-AES128-GCM-SHA256'],
] as const)('a server with an %s key supports %s with %s', async (key, version, ciphers) => {
  expect((await dial(key, version, ciphers)).getProtocol()).toBe(version);
});

const REFUSED: [fault: string, key: Key, version: SecureVersion, ciphers: string][] = [
  ['an old version', 'ec', 'TLSv1.1', 'DEFAULT:@SECLEVEL=0'],
  ['CBC', 'ec', 'TLSv1.2', 'ECDHE-ECDSA-AES256-SHA384:ECDHE-ECDSA-AES128-SHA256'],
  ['CBC', 'ec', 'TLSv1.2', 'ECDHE-ECDSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA'],
  ['CBC', 'rsa', 'TLSv1.2', 'ECDHE-RSA-AES256-SHA384:ECDHE-RSA-AES128-SHA256:ECDHE-RSA-AES128-SHA'],
  ['static RSA', 'rsa', 'TLSv1.2', 'AES256-GCM-SHA384:AES128-GCM-SHA256:AES128-SHA256:AES128-SHA'],
];

test.each(REFUSED)('%s is not supported with an %s key', async (_fault, key, version, ciphers) => {
  await expect(dial(key, version, ciphers)).rejects.toMatchObject({
    code: expect.stringMatching(/ALERT_(HANDSHAKE_FAILURE|PROTOCOL_VERSION)/) as string,
  });
});
