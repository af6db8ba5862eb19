import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import type { ValidateFunction } from 'ajv/dist/2020';

import { jsonSchemaOf } from '../../src/fields/json-schema';
import type { Operation } from '../../src/plugins/operation';
import type { TestService, TestUser } from '../support/service';
import { ajv, type Tool, type ToolResult, validators } from './support';
import { Garden, fullRequest, toolRows, validRequest, startService } from '../support/program';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** The methods of both official clients that are used here. */
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

/** By operation, since compiling a schema takes longer than a call. */
const fullValidators = new Map<Operation, ValidateFunction>();

function validatorOf(operation: Operation): ValidateFunction {
  const known = fullValidators.get(operation);
  if (known) return known;
  const made = ajv.compile(jsonSchemaOf(operation.response.schema, 'output'));
  fullValidators.set(operation, made);
  return made;
}

/** The response of the operation, without what a tool adds to lists. */
function ofOperation(
  { response }: Operation,
  { items, ...others }: Record<string, unknown>,
): unknown {
  const { type, properties } = jsonSchemaOf(response.schema, 'output');
  if (type === 'array') return items;
  const own = new Set(Object.keys(properties ?? {}));
  const added = ['count', 'hasMore', 'nextCursor'].filter((name) => !own.has(name));
  const left = Object.entries({ items, ...others }).filter(
    ([name, value]) => !added.includes(name) && value !== undefined,
  );
  return Object.fromEntries(left);
}

describe.each(LINES)('%s over %s', (_, version, connect) => {
  let connection: Connection;
  let tools: Tool[];
  let validatorsOfTools: ReturnType<typeof validators>;
  let user: TestUser;
  let garden: Garden;

  beforeAll(async () => {
    user = await service.user();
    garden = new Garden(user);
    connection = await connect(user);
    tools = await connection.list();
    validatorsOfTools = validators(tools);
  });
  afterAll(() => connection.close());

  /** Calls a tool, and checks the result by the schemas of the tool and of the operation. */
  async function call(
    name: string,
    operation: Operation,
    given: Record<string, unknown>,
  ): Promise<void> {
    const result = await connection.call(name, given);
    const { structuredContent: structured = {}, content, isError } = result;
    expect(isError ?? false).toBe(false);
    expect(JSON.parse(content[0]?.text ?? '')).toEqual(structured);
    const { output } = validatorsOfTools.get(name) ?? {};
    output?.(structured);
    expect(output?.errors).toBeNull();
    const full = validatorOf(operation);
    full(ofOperation(operation, structured));
    expect(full.errors).toBeNull();
  }

  test('gets the instructions and the tools', () => {
    expect(connection.version()).toBe(version);
    expect(connection.instructions()).toContain('list_plants');
    expect(tools.map(({ name }) => name)).toEqual(toolRows().map(([name]) => name));
  });

  test.each(toolRows())('calls %s with typed results', async (name, operation) => {
    // What the least requests return does not depend on the client.
    for (const requestOf of version === '2026-07-28'
      ? [validRequest, fullRequest]
      : [fullRequest]) {
      await call(name, operation, requestOf(operation, await garden.ids()).toolArguments);
      garden.called(operation);
    }
  });

  test('gets faults as a result', async () => {
    const result = await connection.call('create_plant', { name: '' });
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toContain('name');
  });

  test('gets an error for an unknown tool', async () => {
    await expect(connection.call('water_everything', {})).rejects.toMatchObject({ code: -32602 });
  });
});
