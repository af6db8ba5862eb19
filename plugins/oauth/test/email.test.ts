import { randomUUID } from 'node:crypto';

import type { SMTPServerOptions } from 'smtp-server';

import { resetClock, setClock } from '../../../test/support/clock';
import { accountsPlugin, startService, until } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { linkIn, MailServer, type Received, refusal } from '../../../test/support/mail-server';
import { Authenticator } from './support/authenticator';
import { Browser, type Page } from './support/browser';
import { PASSWORD, person } from './support/people';

const MINUTE_MS = 60_000;
const NEXT = 'nine yellow tulips';
const REFUSED = 'refused.example.com';

let mailServer: MailServer;
let service: TestService;
/** An address whose mail the server takes later. */
let slow: { address: string; until: Promise<void> } | undefined;
/** A mail server that refuses some mailboxes, and is slow to take the mail of one. */
function startMail(port?: number): Promise<MailServer> {
  const onRcptTo: SMTPServerOptions['onRcptTo'] = ({ address }, _session, done) => {
    const refused = address.endsWith(REFUSED) ? refusal(550, `No mailbox ${address}`) : undefined;
    void (address === slow?.address ? slow.until : Promise.resolve()).then(() => {
      done(refused);
    });
  };
  return MailServer.start({ onRcptTo }, port);
}

beforeAll(async () => {
  mailServer = await startMail();
  // Without its jobs, so that mail is sent when a test says so.
  service = await startService({
    jobs: false,
    env: {
      SMTP_URL: mailServer.url(),
      MAIL_FROM: 'Plants <plants@example.com>',
      SIGN_UP: 'open',
      TRUST_PROXY: '1',
    },
  });
});
afterEach(resetClock);
afterAll(async () => {
  const logged = service.logged.join('');
  await service.close();
  await mailServer.close();
  expect(logged).not.toContain('@example.net');
});

const send = () => service.runJob('webhook delivery');

/** Waits until it is stored, since the response does not. */
async function sent(address: string): Promise<Received> {
  for (;;) {
    await send();
    const [mail] = mailServer.take(address);
    if (mail) return mail;
  }
}

const newAddress = (): string => `${randomUUID()}@example.net`;

async function signIn(name: string, password = PASSWORD): Promise<Browser> {
  const browser = new Browser(service.url);
  await browser.submit(await browser.go('/sign-in'), { name, password });
  return browser;
}

/** Submits a form of the settings. */
async function change(browser: Browser, fields: Record<string, string>): Promise<Page> {
  const csrf = /name="csrf" value="([^"]*)"/.exec((await browser.go('/settings')).text)?.[1] ?? '';
  const body = new URLSearchParams({ csrf, ...fields });
  return browser.go('/settings', { method: 'POST', body });
}

const setEmail = (browser: Browser, email: string) =>
  change(browser, { action: 'setEmail', email });

/** A person with a confirmed address, signed in. */
async function withAddress(address = newAddress(), name?: string) {
  const ada = await person(service, name);
  const browser = await signIn(ada.name);
  await setEmail(browser, address);
  const other = new Browser(service.url);
  const done = await other.submit(await other.go(linkIn(await sent(address))), {});
  expect(done.text).toContain('Your address is confirmed');
  return { ...ada, address, browser };
}

async function forgot(name: string): Promise<Page> {
  const browser = new Browser(service.url);
  return browser.submit(await browser.go('/forgot'), { name });
}

/** The link of a way back in. */
async function wayBack(name: string, address: string): Promise<string> {
  await forgot(name);
  return linkIn(await sent(address));
}

async function recover(link: string, fields: Record<string, string> = {}): Promise<Page> {
  const browser = new Browser(service.url);
  return browser.submit(await browser.go(link), { password: NEXT, ...fields });
}

/** How many mails wait to be sent. */
async function waiting(userId: string): Promise<number> {
  const deliveries = service.app.database.connection.collection('deliveries');
  return deliveries.countDocuments({ userId, status: 'waiting' });
}

async function untilWaiting(userId: string): Promise<void> {
  while ((await waiting(userId)) === 0);
}

describe('an address', () => {
  test('is confirmed by the button of a link, in another browser, and opening the link spends nothing', async () => {
    const ada = await person(service);
    const browser = await signIn(ada.name);
    const address = newAddress();
    const asked = await setEmail(browser, address.toUpperCase());
    expect(asked.text).toContain('A link was sent to the address.');
    const mail = await sent(address);
    expect(mail.text).toContain(ada.name);
    const other = new Browser(service.url);
    const link = linkIn(mail);
    await other.go(link);
    await other.go(link);
    expect((await browser.go('/settings')).text).not.toContain(address);
    const page = await other.go(link);
    expect(page.text).toContain(address);
    const forged = await other.submit(page, { csrf: 'forged' });
    expect(forged.status).toBe(403);
    expect((await other.submit(page, {})).text).toContain('Your address is confirmed');
    expect((await browser.go('/settings')).text).toContain(address);
    expect((await other.submit(page, {})).text).toContain('was already used');
    expect((await other.go(link)).status).toBe(400);
  });

  test('gets plain text with the headers of automatic mail', async () => {
    const ada = await person(service);
    const address = newAddress();
    await setEmail(await signIn(ada.name), address);
    const { headers, from, to, html, attachments, messageId, date } = await sent(address);
    expect(from?.text).toBe('"Plants" <plants@example.com>');
    expect(to).toMatchObject({ text: address });
    expect(headers.get('auto-submitted')).toBe('auto-generated');
    expect(messageId).toMatch(/^<[-0-9a-f]{36}@example\.com>$/);
    expect(date).toBeInstanceOf(Date);
    expect({ html, attachments }).toEqual({ html: false, attachments: [] });
    expect(headers.get('content-type')).toMatchObject({ value: 'text/plain' });
  });

  test('gets mail in the language of the page on which it was given', async () => {
    const ada = await person(service);
    const browser = await signIn(ada.name);
    const address = newAddress();
    const french = { 'Accept-Language': 'fr' };
    const { text } = await browser.go('/settings', { headers: french });
    const csrf = /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';
    const body = new URLSearchParams({ csrf, action: 'setEmail', email: address });
    await browser.go('/settings', { method: 'POST', body, headers: french });
    const mail = await sent(address);
    expect(mail.subject).toBe('Confirmez votre adresse e-mail');
    expect(mail.text).toContain('Quelqu’un, sans doute vous');
    await browser.submit(await browser.go(linkIn(mail)), {});
    await forgot(address);
    expect((await sent(address)).subject).toBe('Choisissez un nouveau mot de passe');
  });

  test.each([
    'ada',
    'ada@',
    'a@b@example.net',
    'ada@example.net\r\nBcc: eve@example.net',
    'ada@example.net, eve@example.net',
    '<ada@example.net>',
    'Ada <ada@example.net>',
    `${'a'.repeat(250)}@example.net`,
  ])('%j is refused', async (email) => {
    const ada = await person(service);
    const page = await setEmail(await signIn(ada.name), email);
    expect(page.status).toBe(400);
    expect(page.text).toContain('Use an e-mail address such as ada@example.com.');
    expect(await waiting(ada.name)).toBe(0);
  });

  test('serves one account', async () => {
    const ada = await withAddress();
    const eve = await person(service);
    const browser = await signIn(eve.name);
    await setEmail(browser, ada.address);
    const page = await browser.submit(await browser.go(linkIn(await sent(ada.address))), {});
    expect(page.text).toContain('This address already serves another account.');
    expect((await browser.go('/settings')).text).not.toContain(ada.address);
  });

  test('gets five links an hour, whoever asks', async () => {
    setClock(Math.ceil(Date.now() / 3_600_000) * 3_600_000);
    const address = newAddress();
    const statuses: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      const { name } = await person(service);
      statuses.push((await setEmail(await signIn(name), address)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test('is not confirmed by a link that is a day old, or older than a later one', async () => {
    const ada = await person(service);
    const browser = await signIn(ada.name);
    const [first, second] = [newAddress(), newAddress()];
    await setEmail(browser, first);
    const older = linkIn(await sent(first));
    await setEmail(browser, second);
    const newer = linkIn(await sent(second));
    expect((await browser.go(older)).status).toBe(400);
    expect((await browser.go(newer)).status).toBe(200);
    setClock(Date.now() + 24 * 60 * MINUTE_MS + 1);
    expect((await browser.go(newer)).status).toBe(400);
  });

  test('can be given at sign-up, or left out', async () => {
    const address = newAddress();
    const name = `user-${randomUUID()}`;
    const browser = new Browser(service.url);
    const page = await browser.go('/sign-up');
    const fields = { name, password: PASSWORD };
    const refused = await browser.submit(page, { ...fields, email: 'ada' });
    expect(refused.text).toContain('Use an e-mail address such as ada@example.com.');
    expect((await browser.submit(page, { ...fields, email: address })).status).toBe(200);
    await browser.submit(await browser.go(linkIn(await sent(address))), {});
    expect((await browser.go('/settings')).text).toContain(address);
    const without = { name: `user-${randomUUID()}`, password: PASSWORD, email: '' };
    expect((await new Browser(service.url).submit(page, without)).status).toBe(403);
    const next = new Browser(service.url);
    expect((await next.submit(await next.go('/sign-up'), without)).status).toBe(200);
  });

  test('that is replaced or removed is told, and opens the account no more', async () => {
    const ada = await withAddress();
    const link = await wayBack(ada.name, ada.address);
    const next = newAddress();
    await setEmail(ada.browser, next);
    await ada.browser.submit(await ada.browser.go(linkIn(await sent(next))), {});
    expect((await sent(ada.address)).subject).toBe('Your e-mail address was removed');
    expect((await ada.browser.go(link)).status).toBe(400);
    await change(ada.browser, { action: 'removeEmail' });
    expect((await sent(next)).subject).toBe('Your e-mail address was removed');
    expect((await ada.browser.go('/settings')).text).not.toContain(next);
  });

  test('is exported, and deleted with its account', async () => {
    const ada = await withAddress();
    const exported = await change(ada.browser, { action: 'export' });
    const { records } = JSON.parse(exported.text) as { records: Record<string, object[]> };
    expect(records['email']).toMatchObject([{ address: ada.address }]);
    await forgot(ada.name);
    await untilWaiting(ada.name);
    await service.app.exportsOf(accountsPlugin).data.deleteUser(ada.name, () => undefined);
    await send();
    expect(mailServer.take(ada.address)).toEqual([]);
    await withAddress(ada.address);
  });
});

describe('a way back in', () => {
  test('sets a password, ends all sessions, keeps tokens, and tells the address', async () => {
    const ada = await withAddress();
    const user = await service.user({ id: ada.name });
    const link = await wayBack(ada.name, ada.address);
    const weak = await recover(link, { password: 'short' });
    expect(weak.text).toContain('Use at least 12 characters');
    const second = new Browser(service.url);
    const opened = await second.go(link);
    const done = await recover(link);
    expect(done.text).toContain('Your account is ready');
    expect((await ada.browser.go('/settings')).url.pathname).toBe('/sign-in');
    expect((await (await signIn(ada.name, NEXT)).go('/settings')).url.pathname).toBe('/settings');
    expect((await (await signIn(ada.name)).go('/settings')).url.pathname).toBe('/sign-in');
    await user.get('/api/plants').expect(200);
    expect((await sent(ada.address)).subject).toBe('Your password or passkeys changed');
    expect((await second.submit(opened, { password: NEXT })).text).toContain('was already used');
    expect((await second.go(link)).status).toBe(400);
  });

  test('ends tokens and apps if the person says so', async () => {
    const ada = await withAddress();
    const user = await service.user({ id: ada.name });
    await recover(await wayBack(ada.address, ada.address), { tokens: 'end' });
    await user.get('/api/plants').expect(401);
  });

  test('is good for an hour, and survives what opens it', async () => {
    const ada = await withAddress();
    const link = await wayBack(ada.name, ada.address);
    const scanner = new Browser(service.url);
    for (let index = 0; index < 3; index += 1) expect((await scanner.go(link)).status).toBe(200);
    const forged = await scanner.submit(await scanner.go(link), { csrf: 'x', password: NEXT });
    expect(forged.status).toBe(403);
    setClock(Date.now() + 60 * MINUTE_MS);
    expect((await scanner.go(link)).status).toBe(400);
  });

  test('is sent once in half an hour, and the newest alone is good', async () => {
    const ada = await withAddress();
    const older = await wayBack(ada.name, ada.address);
    await forgot(ada.name);
    await forgot(ada.address);
    await send();
    expect(mailServer.take(ada.address)).toEqual([]);
    setClock(Date.now() + 30 * MINUTE_MS);
    const newer = await wayBack(ada.address, ada.address);
    expect((await new Browser(service.url).go(older)).status).toBe(400);
    expect((await recover(newer)).status).toBe(200);
  });

  test('says the same whether or not there is an account or an address', async () => {
    const ada = await withAddress();
    const { name } = await person(service);
    const pages = [];
    for (const typed of [ada.name, ada.address, name, 'nobody', newAddress(), '', '$ne']) {
      const { status, text } = await forgot(typed);
      pages.push(`${status} ${text}`);
    }
    expect(new Set(pages).size).toBe(1);
  });

  test('goes to the owner of an address, whoever is named like it', async () => {
    const address = `ada-${randomUUID().slice(0, 8)}@example.net`;
    const ada = await withAddress(address);
    const eve = await withAddress(newAddress(), address);
    await forgot(address);
    expect((await sent(address)).text).toContain(ada.name);
    expect((await sent(eve.address)).text).toContain(`account ${address}.`);
  });

  test('costs a person one mail, and the server nothing, however many ask', async () => {
    const ada = await withAddress();
    const { connection } = service.app.database;
    const stored = async () => {
      const counts = ['oauthState', 'deliveries'].map((each) =>
        connection.collection(each).countDocuments({ kind: { $ne: 'Budget' } }),
      );
      return Promise.all(counts);
    };
    const before = await stored();
    const browser = new Browser(service.url);
    const page = await browser.go('/forgot');
    const names = Array.from({ length: 300 }, (_, index) => (index % 2 ? `x${index}` : ada.name));
    await Promise.all(names.map((name) => browser.submit(page, { name })));
    await untilWaiting(ada.name);
    expect(await stored()).toEqual([before[0], (before[1] ?? 0) + 1]);
    expect((await sent(ada.address)).subject).toBe('Set a new password');
    await send();
    expect(mailServer.take(ada.address)).toEqual([]);
  });

  test('is sent when the mail server is back, within its hour', async () => {
    const [ada, ben] = [await withAddress(), await withAddress()];
    const { port } = mailServer;
    await mailServer.close();
    await forgot(ada.name);
    await untilWaiting(ada.name);
    await send();
    setClock(Date.now() + 50 * MINUTE_MS);
    await forgot(ben.name);
    await untilWaiting(ben.name);
    mailServer = await startMail(port);
    const link = linkIn(await sent(ada.address));
    expect((await recover(link)).status).toBe(200);
    await sent(ben.address);
  });

  test('is not sent after its hour', async () => {
    const ada = await withAddress();
    const { port } = mailServer;
    await mailServer.close();
    await forgot(ada.name);
    await untilWaiting(ada.name);
    await send();
    mailServer = await startMail(port);
    setClock(Date.now() + 60 * MINUTE_MS);
    await send();
    expect(mailServer.take(ada.address)).toEqual([]);
    expect(await waiting(ada.name)).toBe(0);
  });

  test('that waits is not sent once the password was set otherwise', async () => {
    const ada = await withAddress();
    await forgot(ada.name);
    await untilWaiting(ada.name);
    const passwords = { now: PASSWORD, password: NEXT };
    await change(ada.browser, { action: 'setPassword', ...passwords });
    expect((await sent(ada.address)).subject).toBe('Your password or passkeys changed');
    expect(mailServer.take(ada.address)).toEqual([]);
  });
});

test('passkeys are set by a way back in, and each change of them is told', async () => {
  const ada = await withAddress();
  const origin = service.url.replace('127.0.0.1', 'localhost');
  const [browser, device] = [new Browser(origin), new Authenticator(origin)];
  const page = await browser.go(await wayBack(ada.name, ada.address));
  const done = await browser.submit(page, { passkey: device.make(page) });
  expect(done.text).toContain('Your account is ready');
  expect((await sent(ada.address)).subject).toBe('Your password or passkeys changed');
  expect((await (await signIn(ada.name)).go('/settings')).url.pathname).toBe('/sign-in');
  const settings = await browser.go('/settings');
  const csrf = /name="csrf" value="([^"]*)"/.exec(settings.text)?.[1] ?? '';
  const passkey = new Authenticator(origin).make(settings);
  const body = new URLSearchParams({ csrf, action: 'addPasskey', passkey });
  await browser.go('/settings', { method: 'POST', body });
  expect((await sent(ada.address)).subject).toBe('Your password or passkeys changed');
});

test('a mail that the server is slow to take delays no other', async () => {
  const [ada, ben] = [await withAddress(), await withAddress()];
  let release: () => void = () => undefined;
  slow = { address: ada.address, until: new Promise((resolve) => (release = resolve)) };
  for (const { name } of [ada, ben]) {
    await forgot(name);
    await untilWaiting(name);
  }
  const sending = send();
  await until(() => mailServer.take(ben.address).length === 1);
  expect(mailServer.take(ada.address)).toEqual([]);
  release();
  await sending;
  await sent(ada.address);
});

test('many mails share a few connections', async () => {
  const { name } = await person(service);
  const browser = await signIn(name);
  const addresses = Array.from({ length: 9 }, newAddress);
  for (const address of addresses) await setEmail(browser, address);
  const { connections } = mailServer;
  await send();
  expect(mailServer.connections - connections).toBeLessThanOrEqual(4);
  // The newest link alone would be good, so no other is sent after it.
  expect(mailServer.take(addresses.at(-1) ?? '')).toHaveLength(1);
});

test('a mailbox that refuses is not tried again', async () => {
  const ada = await person(service);
  await setEmail(await signIn(ada.name), `ada@${REFUSED}`);
  await send();
  expect(await waiting(ada.name)).toBe(0);
  expect(mailServer.take(`ada@${REFUSED}`)).toEqual([]);
});

test('wrong links count as failures of the address', async () => {
  const limited = await startService({
    // Other tests fail from the same address.
    redisUrl: null,
    env: {
      SMTP_URL: mailServer.url(),
      MAIL_FROM: 'plants@example.com',
      RATE_LIMIT_AUTH_FAILURES_MAX: '2',
    },
  });
  const browser = new Browser(limited.url);
  const statuses: number[] = [];
  for (const path of ['/recover', '/confirm-address', '/recover?link=wrong']) {
    statuses.push((await browser.go(path)).status);
  }
  expect(statuses).toEqual([400, 400, 429]);
  await limited.close();
});

test('without a mail server no page offers e-mail', async () => {
  const plain = await startService({ env: { SIGN_UP: 'open' } });
  const { name } = await person(plain);
  const browser = new Browser(plain.url);
  for (const path of ['/forgot', '/recover', '/confirm-address']) {
    expect((await browser.go(path)).status).toBe(404);
  }
  const pages = [await browser.go('/sign-up'), await browser.go('/sign-in')];
  pages.push(await browser.submit(await browser.go('/sign-in'), { name, password: PASSWORD }));
  for (const { status, text } of pages) {
    expect(status).toBe(200);
    expect(text).not.toMatch(/e-mail|forgot/i);
  }
  const refused = await change(browser, { action: 'setEmail', email: 'ada@example.net' });
  expect(refused.status).toBe(400);
  await plain.close();
});
