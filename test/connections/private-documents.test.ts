import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { promisify } from 'node:util';

import { Browser } from '../../plugins/oauth/test/support/browser';
import { listening } from '../support/listening';
import {
  dataDirectory,
  RealServer,
  removeDataDirectory,
  takeDatabase,
  tlsSettings,
} from '../support/program';

test("a client's metadata document is not fetched from a private address", async () => {
  const settings = tlsSettings();
  const { env } = settings;
  const certFile = env['TLS_CERT_FILE'] ?? '';
  const asked: string[] = [];
  const tls = { cert: readFileSync(certFile), key: readFileSync(env['TLS_KEY_FILE'] ?? '') };
  const inside = createServer(tls, ({ url = '' }, response) => {
    asked.push(url);
    response.end('{}');
  });
  const port = await listening(inside);
  const trusting = { NODE_EXTRA_CA_CERTS: certFile };
  const dataDir = await dataDirectory();
  const server = await RealServer.start(dataDir, { ...trusting, MONGODB_URI: takeDatabase() });
  try {
    // Other clients that trust the certificate get a response.
    const fetched = `await fetch('https://localhost:${port}/control')`;
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', fetched], {
      env: { ...process.env, ...trusting },
    });
    const browser = new Browser(server.url);
    for (const host of ['localhost', '127.0.0.1']) {
      const id = encodeURIComponent(`https://${host}:${port}/program`);
      const page = await browser.go(`/oauth/authorize?client_id=${id}`);
      expect(page.status).toBe(400);
    }
    expect(asked).toEqual(['/control']);
  } finally {
    await server.stop();
    await removeDataDirectory(dataDir);
    inside.closeAllConnections();
    inside.close();
    settings.remove();
  }
});
