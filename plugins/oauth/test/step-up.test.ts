import { randomUUID } from 'node:crypto';

import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';

import { statelessHeaders, statelessParams } from '../../../test/mcp/support';
import { startService, userOf } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { expectError } from '../../../test/support/shapes';
import { person, type Person } from './support/people';
import { CALLBACK, Phone } from './support/phone';
import { Browser } from './support/browser';
import { authorize } from './support/program';
import { TokenIssuer } from './support/token-issuer';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startService();
  ada = await person(service);
});
afterAll(() => service.close());

const calling = (name: string, given: object, more: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: given, ...more },
});

/** What the versions of the protocol add to the parameters and headers of a call. */
const VERSIONS = [
  { version: '2025-11-25', more: {}, headers: {} },
  {
    version: '2026-07-28',
    more: statelessParams('2026-07-28'),
    headers: statelessHeaders('2026-07-28', 'tools/call'),
  },
];

async function reader() {
  const phone = await Phone.register(service, ada);
  const resource = `${service.url}/api/mcp`;
  const { access_token: token } = await phone.tokens({ resource }, ['plants:read']);
  return userOf(service.url, ada.name, token);
}

/** Expects that a caller with the scope plants:read alone is told what to ask for. */
async function expectChallenge(user: TestUser, at: TestService, version: (typeof VERSIONS)[0]) {
  const { more, headers } = version;
  const call = (name: string, given: object) =>
    user.post('/api/mcp', calling(name, given, more)).set({ ...headers, 'Mcp-Name': name });
  const answer = await call('create_plant', { name: 'Fern' });
  expectError(answer, 403, 'insufficient_scope', /lacks the scope plants:write/);
  expect(answer.headers['www-authenticate']).toBe(
    `Bearer error="insufficient_scope", scope="plants:read plants:write", resource_metadata="${at.url}/.well-known/oauth-protected-resource/api/mcp"`,
  );
  expect(answer.headers['ratelimit-policy']).toContain('"plants"');
  const asPackage = await call('log_care', {}).set('Accept', 'application/json, text/event-stream');
  expect([asPackage.status, asPackage.body]).toEqual([
    403,
    {
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32010,
        message: 'The token lacks the scope events:write.',
        data: { code: 'insufficient_scope' },
      },
    },
  ]);
  const list = await call('list_plants', {}).expect(200);
  expect(list.body).toMatchObject({ result: { structuredContent: { items: [] } } });
}

test.each(VERSIONS)(
  "a tool beyond an app's scopes gets 403 that names those to ask for, and does nothing: $version",
  async (version) => {
    await expectChallenge(await reader(), service, version);
  },
);

test('so does one beyond the scopes of a token of an issuer', async () => {
  const issuer = await TokenIssuer.start();
  const own = await startService({ env: issuer.env });
  for (const version of VERSIONS) {
    const token = await issuer.token({ sub: randomUUID(), scope: 'openid plants:read' });
    await expectChallenge(userOf(own.url, '', token), own, version);
  }
  await own.close();
  await issuer.close();
});

test.each(VERSIONS)(
  'a developer token, for which no app can ask, gets a failed call: $version',
  async ({ more, headers }) => {
    const user = await service.user({ scopes: ['plants:read'] });
    const sent = user.post('/api/mcp', calling('create_plant', { name: 'Fern' }, more));
    const answer = await sent.set({ ...headers, 'Mcp-Name': 'create_plant' }).expect(200);
    expect(answer.body).toMatchObject({ result: { isError: true } });
    expect(JSON.stringify(answer.body)).toContain('insufficient_scope');
  },
);

test('a client asks for the scopes that it lacks, and keeps those that it has', async () => {
  const metadata = { client_name: 'Ferns', redirect_uris: [CALLBACK], scope: 'plants:read' };
  const kept: Record<string, unknown> = {};
  const asked: URL[] = [];
  const provider = {
    redirectUrl: CALLBACK,
    clientMetadata: metadata,
    clientInformation: () => kept['client'],
    saveClientInformation: (client: unknown) => Object.assign(kept, { client }),
    tokens: () => kept['tokens'],
    saveTokens: (tokens: unknown) => Object.assign(kept, { tokens }),
    redirectToAuthorization: (url: URL) => asked.push(url),
    saveCodeVerifier: (verifier: string) => Object.assign(kept, { verifier }),
    codeVerifier: () => kept['verifier'],
    saveDiscoveryState: (discovery: unknown) => Object.assign(kept, { discovery }),
    discoveryState: () => kept['discovery'],
  } as unknown as OAuthClientProvider; // The package's types name each stored value.
  const browser = new Browser(service.url);
  const connect = async () => {
    const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/api/mcp`), {
      authProvider: provider,
    });
    const client = new Client({ name: 'ferns', version: '1' });
    return { transport, client, connected: client.connect(transport) };
  };
  /** Lets the person allow what the client asks for. */
  const allow = async (transport: StreamableHTTPClientTransport, scope?: string[]) => {
    const { url } = await authorize(browser, asked.at(-1) ?? new URL(service.url), {
      ...ada,
      scope,
    });
    await transport.finishAuth(url.searchParams);
  };
  const first = await connect();
  await expect(first.connected).rejects.toThrow(UnauthorizedError);
  await allow(first.transport, ['plants:read']);
  const { client, transport, connected } = await connect();
  await connected;
  const call = { name: 'create_plant', arguments: { name: 'Fern' } };
  await expect(client.callTool(call)).rejects.toThrow(UnauthorizedError);
  expect(asked.at(-1)?.searchParams.get('scope')?.split(' ')).toEqual(
    expect.arrayContaining(['plants:read', 'plants:write']),
  );
  await allow(transport);
  expect(await client.callTool(call)).toMatchObject({ structuredContent: { name: 'Fern' } });
  await client.close();
});
