import type { Client } from '@modelcontextprotocol/client';

import { resetClock, setClock } from '../../../test/support/clock';
import { startService } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { Browser } from './support/browser';
import { person } from './support/people';
import { Assistant, authorize } from './support/program';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(() => {
  resetClock();
});
afterAll(() => service.close());

async function connected(name: string): Promise<{ assistant: Assistant; client: Client }> {
  const assistant = new Assistant(new URL('/api/mcp', service.url), { client_name: name });
  const browser = new Browser(service.url);
  const ada = await person(service);
  const client = await assistant.connect((asked) => authorize(browser, asked, ada));
  return { assistant, client };
}

async function addPlant(client: Client): Promise<boolean> {
  const answer = await client.callTool({ name: 'create_plant', arguments: { name: 'Fern' } });
  return answer.isError !== true;
}

test('an assistant that knows only the address signs in, calls a tool, and refreshes its token', async () => {
  const { assistant, client } = await connected('Fern watcher');
  expect(await addPlant(client)).toBe(true);
  const first = assistant.kept?.access_token;
  setClock(Date.now() + 3_601_000);
  expect(await addPlant(client)).toBe(true);
  expect(assistant.kept?.access_token).not.toBe(first);
  await client.close();
});

test('an assistant whose access was revoked asks for consent again', async () => {
  const { assistant, client } = await connected('Fern watcher');
  const form = {
    client_id: assistant.information?.client_id ?? '',
    token: assistant.kept?.refresh_token ?? '',
  };
  await service.anonymous.post('/oauth/revoke').type('form').send(form).expect(200);
  assistant.asked = undefined;
  await expect(addPlant(client)).rejects.toThrow();
  expect(assistant.asked).toBeDefined();
  await client.close();
});
