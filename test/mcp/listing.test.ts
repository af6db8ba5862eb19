import { requiredScopes } from '../../src/plugins/operation-facts';
import type { TestService } from '../support/service';
import {
  ajv,
  assistant,
  type Assistant,
  listTools,
  post,
  rpc,
  tool,
  type Tool,
  TOOLS,
} from './support';
import { toolRows, pluginsUnderTest, startService } from '../support/program';

/** The maximum length of the program's own list of tools, in characters. */
const LONGEST_LIST = 40_000;
const OF_FIXTURES = /_chores?$/;

const clientInfo = { name: 'test', version: '1' };

let service: TestService;
let me: Assistant;
let tools: Tool[];

beforeAll(async () => {
  service = await startService();
  me = await assistant(service, { timezone: 'Pacific/Kiritimati' });
  tools = await listTools(me);
});
afterAll(() => service.close());

test('every operation is a tool with its name, in the order of operations', () => {
  const names = toolRows().map(([name]) => name);
  expect(tools.map(({ name }) => name)).toEqual(names);
  expect(names).toEqual(expect.arrayContaining(TOOLS));
});

test('the complete list is short', async () => {
  const { body } = await post(me, rpc('tools/list'));
  const { tools: all } = body.result as { tools: Tool[] }; // The contents of a list in MCP.
  const own = all.filter(({ name }) => !OF_FIXTURES.test(name));
  expect(own.length).toBeGreaterThanOrEqual(TOOLS.length);
  expect(JSON.stringify({ tools: own }).length).toBeLessThan(LONGEST_LIST);
});

test('the instructions are short, include those of each plugin, and name only existing tools', async () => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const { body } = await post(me, rpc('initialize', params));
  const { instructions } = body.result as { instructions: string }; // The result in MCP. It includes the instructions of the fixtures, so a new plugin fits, too.
  expect(instructions.length).toBeLessThan(1024);
  const sentences = pluginsUnderTest().flatMap((plugin) => plugin.instructions ?? []);
  expect(sentences.length).toBeGreaterThan(1);
  for (const sentence of sentences) expect(instructions).toContain(sentence);
  const { today, timezone } = await tool(me, 'get_account');
  expect(instructions).toContain(`Today is ${String(today)} in ${String(timezone)}`);
  expectTools(instructions);
});

test('descriptions and remedies name only existing tools', () => {
  for (const { description } of tools) expectTools(description);
  for (const { params = {}, errors = [], feature } of service.app.operations) {
    const kinds = [...Object.values(params), ...errors];
    for (const { remedy } of [...kinds, ...(feature ? [feature] : [])]) expectTools(remedy ?? '');
  }
});

/** Expects every word that looks like the name of a tool to be one. */
function expectTools(text: string): void {
  const verbs = new Set(tools.map(({ name }) => name.split('_')[0]));
  const names = text.match(new RegExp(`\\b(${[...verbs].join('|')})_[a-z_]+`, 'g')) ?? [];
  for (const name of names) expect(tools.map((tool) => tool.name)).toContain(name);
}

test('schemas are JSON Schema 2020-12 objects without alternatives at their root', () => {
  for (const { inputSchema, outputSchema } of tools) {
    for (const schema of [inputSchema, outputSchema]) {
      expect(ajv.validateSchema(schema)).toBe(true);
      expect(schema['type']).toBe('object');
      // Model APIs refuse tools whose schema has alternatives at its root.
      for (const key of ['anyOf', 'oneOf', 'allOf', 'not', 'enum'])
        expect(schema).not.toHaveProperty(key);
    }
  }
});

test('every tool has all annotations, and they are true', () => {
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
  const read = {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  };
  expect(hints['list_plants']).toEqual(read);
  expect(hints['get_insights']).toEqual(read);
  const create = { ...read, readOnlyHint: false, idempotentHint: undefined };
  expect(hints['create_event']).toEqual(create);
  const change = { ...read, readOnlyHint: false, destructiveHint: true };
  expect(hints['update_plant']).toEqual(change);
  expect(hints['delete_plant']).toEqual(change);
});

const scopes = new Set(
  toolRows().flatMap(([, { access }]) => ('scope' in access ? [access.scope] : [])),
);

test.each([[], ...[...scopes].map((scope) => [scope]), [...scopes]].map((each) => [each]))(
  'a token with %j lists the tools that it can call, in the order of operations',
  async (held) => {
    const narrow = await assistant(service, { scopes: held });
    const callable = toolRows().filter(([, operation]) =>
      requiredScopes(operation).every((scope) => held.includes(scope)),
    );
    expect((await listTools(narrow)).map(({ name }) => name)).toEqual(
      callable.map(([name]) => name),
    );
  },
);
