import { readFileSync } from 'node:fs';

import { linkIn, MailServer } from '../support/mail-server';
import { Browser } from '../../plugins/oauth/test/support/browser';
import {
  dataDirectory,
  RealServer,
  removeDataDirectory,
  takeDatabase,
  tlsSettings,
  until,
} from '../support/program';

test('mail is sent under STARTTLS, after signing in', async () => {
  const trusted = tlsSettings();
  const certFile = trusted.env['TLS_CERT_FILE'] ?? '';
  const key = readFileSync(trusted.env['TLS_KEY_FILE'] ?? '', 'utf8');
  const mails = await MailServer.start({ certificate: { cert: trusted.ca, key } });
  const dataDir = await dataDirectory();
  const server = await RealServer.start(dataDir, {
    NODE_EXTRA_CA_CERTS: certFile,
    MONGODB_URI: takeDatabase(),
    SMTP_URL: mails.url('plants:right@', 'localhost'),
    MAIL_FROM: 'plants@example.com',
    SIGN_UP: 'open',
  });
  try {
    const addresses = ['ada@example.com', 'ben@example.com', 'eve@example.com'];
    for (const email of addresses) {
      const [name = ''] = email.split('@');
      const browser = new Browser(server.url);
      const page = await browser.go('/sign-up');
      await browser.submit(page, { name, password: 'seven green ferns', email });
    }
    await until(() => mails.received.length === addresses.length);
    for (const mail of mails.received) {
      expect(mail.session).toEqual({ secure: true, user: 'plants' });
      expect((await new Browser(server.url).go(linkIn(mail))).status).toBe(200);
    }
    expect(await server.stop()).toBe(0);
  } finally {
    await server.stop();
    await mails.close();
    await removeDataDirectory(dataDir);
    trusted.remove();
  }
});
