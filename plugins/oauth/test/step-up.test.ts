import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';

import { startService, userOf } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { expectError } from '../../../test/support/shapes';
import { person, type Person } from './support/people';
import { CALLBACK, Phone } from './support/phone';
import { Browser } from './support/browser';
import { authorize } from './support/program';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startService();
  ada = await person(service);
});
afterAll(() => service.close());

const calling = (name: string, given: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: given },
});

async function reader() {
  const phone = await Phone.register(service, ada);
  const resource = `${service.url}/api/mcp`;
  const { access_token: token } = await phone.tokens({ resource }, ['plants:read']);
  return userOf(service.url, ada.name, token);
}

test("a tool beyond an app's scopes gets 403 that names those to ask for, and does nothing", async () => {
  const user = await reader();
  const answer = await user.post('/api/mcp', calling('create_plant', { name: 'Fern' }));
  expectError(answer, 403, 'insufficient_scope', /lacks the scope plants:write/);
  expect(answer.headers['www-authenticate']).toBe(
    `Bearer error="insufficient_scope", scope="plants:read plants:write", resource_metadata="${service.url}/.well-known/oauth-protected-resource/api/mcp"`,
  );
  expect(answer.headers['ratelimit-policy']).toContain('"plants"');
  const asPackage = await user
    .post('/api/mcp', calling('log_care', {}))
    .set('Accept', 'application/json, text/event-stream');
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
  const list = await user.post('/api/mcp', calling('list_plants', {})).expect(200);
  expect(list.body).toMatchObject({ result: { structuredContent: { items: [] } } });
});

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
