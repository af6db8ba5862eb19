import { signIn, signInOnLoopback } from '../../../examples/offline-client/sign-in';
import type { Tokens } from '../../../examples/offline-client/types';
import { Browser } from '../../../plugins/oauth/test/support/browser';
import { person, type Person } from '../../../plugins/oauth/test/support/people';
import { Phone } from '../../../plugins/oauth/test/support/phone';
import { authorize } from '../../../plugins/oauth/test/support/program';
import { startService } from '../../support/program';
import type { TestService } from '../../support/service';
import { Device } from './device';

const SCHEME = 'com.example.ferns:/callback';
const scope = 'plants:read plants:write events:write offline_access';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startService();
  ada = await person(service);
});
afterAll(() => service.close());

async function clientId(redirectUri: string): Promise<string> {
  return (await Phone.register(service, ada, { redirect_uris: [redirectUri] })).clientId;
}

/** Who has signed in. */
async function who(tokens: Tokens): Promise<string | undefined> {
  const { client } = new Device(service.url, tokens);
  await client.sync();
  return client.state.account?.userId;
}

/** An app with a private scheme; the system passes it the address to which the server redirects. */
async function onPhone(browser: Browser, somebody: Person): Promise<Tokens> {
  return signIn({
    url: service.url,
    clientId: await clientId(SCHEME),
    redirectUri: SCHEME,
    scope,
    browse: async (address) => (await authorize(browser, new URL(address), somebody)).url.href,
  });
}

test('an app signs in with a private scheme', async () => {
  const tokens = await onPhone(new Browser(service.url), ada);
  expect(await who(tokens)).toBe(ada.name);
  expect(tokens.refresh_token).toBeDefined();
});

test.each(['http://127.0.0.1/callback', 'http://127.0.0.1:7/callback'])(
  'a program on a computer signs in on any port: %s',
  async (registered) => {
    const options = { url: service.url, clientId: await clientId(registered), scope };
    const tokens = await signInOnLoopback(options, async (address) => {
      const { url } = await authorize(new Browser(service.url), new URL(address), ada);
      await fetch(url);
    });
    expect(await who(tokens)).toBe(ada.name);
  },
);

test.each([
  ['http://127.0.0.1/callback', 'http://127.0.0.1:5/callback', true],
  ['http://[::1]/callback', 'http://[::1]:5/callback', true],
  ['http://localhost/callback', 'http://localhost:5/callback', true],
  ['http://127.0.0.1/callback', 'http://127.0.0.1:5/other', false],
  ['http://127.0.0.1/callback', 'http://localhost:5/callback', false],
  ['https://example.com/callback', 'https://example.com:5/callback', false],
])('registered %s, asked %s: %s', async (registered, redirectUri, isTaken) => {
  const phone = new Phone(service, ada, await clientId(registered), redirectUri);
  const { url } = await phone.browser.go(phone.asks(), { follow: false });
  expect(url.pathname.startsWith('/oauth/consent/')).toBe(isTaken);
});
