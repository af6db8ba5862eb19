import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { jsonSchemaOf } from '../../src/fields/json-schema';
import type { Operation } from '../../src/plugins/operation';
import { startService, type TestService, type TestUser } from '../support/service';
import { ajv, type Tool, type ToolResult, validators, TOOLS } from './support';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** What both official clients can do, so far as it is used here. */
interface Connection {
  list(): Promise<Tool[]>;
  call(name: string, given: Record<string, unknown>): Promise<ToolResult>;
  instructions(): string | undefined;
  version(): string | undefined;
  close(): Promise<void>;
}

function endpointOf(user: TestUser) {
  const url = new URL('/api/mcp', service.url);
  return { url, requestInit: { headers: { Authorization: `Bearer ${user.token}` } } };
}

async function connectCurrent(
  user: TestUser,
  mode: 'auto' | 'legacy' = 'auto',
): Promise<Connection> {
  const { url, requestInit } = endpointOf(user);
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return {
    list: async () => (await client.listTools()).tools as unknown as Tool[],
    call: async (name, given) =>
      (await client.callTool({ name, arguments: given })) as unknown as ToolResult,
    instructions: () => client.getInstructions(),
    version: () => client.getNegotiatedProtocolVersion(),
    close: () => client.close(),
  };
}

async function connectOlder(user: TestUser): Promise<Connection> {
  const { url, requestInit } = endpointOf(user);
  const client = new OlderClient({ name: 'test', version: '1' });
  const transport = new OlderTransport(url, { requestInit });
  // The package's classes disagree about optional properties under TypeScript's strictest rule.
  await client.connect(transport);
  return {
    list: async () => (await client.listTools()).tools as unknown as Tool[],
    call: async (name, given) =>
      (await client.callTool({ name, arguments: given })) as unknown as ToolResult,
    instructions: () => client.getInstructions(),
    version: () => transport.protocolVersion,
    close: () => client.close(),
  };
}

const LINES: [string, string, (user: TestUser) => Promise<Connection>][] = [
  ['@modelcontextprotocol/client', '2026-07-28', (user) => connectCurrent(user)],
  ['@modelcontextprotocol/client', '2025-11-25', (user) => connectCurrent(user, 'legacy')],
  ['@modelcontextprotocol/sdk', '2025-11-25', connectOlder],
];

describe.each(LINES)('%s over %s', (_, version, connect) => {
  let connection: Connection;
  let tools: Tool[];
  const called = new Set<string>();

  beforeAll(async () => {
    connection = await connect(await service.user());
    tools = await connection.list();
  });
  afterAll(() => connection.close());

  /** Calls a tool and holds the result against both the tool's schema and the operation's. */
  async function call(
    name: string,
    given: Record<string, unknown> = {},
  ): Promise<Record<string, unknown>> {
    const result = await connection.call(name, given);
    const { structuredContent: structured = {}, content, isError } = result;
    expect(isError ?? false).toBe(false);
    expect(JSON.parse(content[0]?.text ?? '')).toEqual(structured);
    const { output } = validators(tools).get(name) ?? {};
    output?.(structured);
    expect(output?.errors).toBeNull();
    const full = ajv.compile(jsonSchemaOf(operation(name).response.schema, 'output'));
    full(
      Array.isArray(structured['items']) && !('hasMore' in structured)
        ? structured['items']
        : structured,
    );
    expect(full.errors).toBeNull();
    called.add(name);
    return structured;
  }

  test('gets the instructions and the tools', () => {
    expect(connection.version()).toBe(version);
    expect(connection.instructions()).toContain('list_plants');
    expect(tools.map(({ name }) => name)).toEqual(
      service.app.operations.flatMap(({ tool }) => ('name' in tool ? [tool.name] : [])),
    );
  });

  test('calls every tool with typed results', async () => {
    const photo = await call('create_photo', {
      imagehostPublicId: 'garden/fern',
      secureUrl: 'https://images.example.com/fern.jpg',
      width: 800,
      height: 600,
      format: 'jpg',
    });
    await call('get_photo', { id: photo['id'] });
    await call('crop_photo', { id: photo['id'], x: 0, y: 0, width: 600, height: 600 });
    const plant = await call('create_plant', {
      name: 'Boston fern',
      location: 'Hall',
      primaryPhotoId: photo['id'],
    });
    const { id } = plant;
    await call('list_plants');
    await call('get_plant', { id });
    await call('update_plant', { id, species: 'Nephrolepis exaltata', location: null });
    await call('list_locations');
    const event = await call('create_event', { id, photoIds: [photo['id']] });
    await call('create_event', { id, type: 'growth', growthAmount: 2.5, growthUnit: 'cm' });
    await call('list_events', { id, limit: 1 });
    const now = Date.now();
    await call('list_month_events', {
      id,
      monthStart: now - 86_400_000,
      monthEnd: now + 86_400_000,
    });
    await call('update_event', { id: event['id'], text: 'A good soak' });
    await call('get_insights');
    await call('list_announcements');
    await call('delete_event', { id: event['id'] });
    await call('delete_plant', { id });
    expect([...called].sort()).toEqual(TOOLS);
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(TOOLS));
  });

  test('is told what is wrong as a result', async () => {
    const result = await connection.call('create_plant', { name: '' });
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toContain('name');
  });

  test('is told of an unknown tool as an error', async () => {
    await expect(connection.call('water_everything', {})).rejects.toMatchObject({ code: -32602 });
  });
});

function operation(tool: string): Operation {
  const found = service.app.operations.find(
    (each) => 'name' in each.tool && each.tool.name === tool,
  );
  if (!found) throw new Error(`There is no tool ${tool}.`);
  return found;
}
