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

/** What the list of the program's own tools may cost a model, in characters. */
const LONGEST_LIST = 40_000;
const OF_FIXTURES = /_reminders?$/;

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

test('every operation is a tool under its name, in the order of operations', () => {
  const names = toolRows().map(([name]) => name);
  expect(tools.map(({ name }) => name)).toEqual(names);
  expect(names).toEqual(expect.arrayContaining(TOOLS));
});

test('the whole list is short', async () => {
  const { body } = await post(me, rpc('tools/list'));
  const { tools: all } = body.result as { tools: Tool[] }; // What MCP has a list hold.
  const own = all.filter(({ name }) => !OF_FIXTURES.test(name));
  expect(own.length).toBeGreaterThanOrEqual(TOOLS.length);
  expect(JSON.stringify({ tools: own }).length).toBeLessThan(LONGEST_LIST);
});

test('the instructions are short, have what each plugin says, and name only tools that there are', async () => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const { body } = await post(me, rpc('initialize', params));
  const { instructions } = body.result as { instructions: string }; // What MCP has it answer.
  // With those of the fixtures, so that there is space for a newcomer's.
  expect(instructions.length).toBeLessThan(1024);
  const sentences = pluginsUnderTest().flatMap((plugin) => plugin.instructions ?? []);
  expect(sentences.length).toBeGreaterThan(1);
  for (const sentence of sentences) expect(instructions).toContain(sentence);
  const { today, timezone } = await tool(me, 'get_account');
  expect(instructions).toContain(`Today is ${String(today)} in ${String(timezone)}`);
  expectTools(instructions);
});

test('descriptions and remedies name only tools that there are', () => {
  for (const { description } of tools) expectTools(description);
  for (const { params = {}, errors = [], feature } of service.app.operations) {
    const kinds = [...Object.values(params), ...errors];
    for (const { remedy } of [...kinds, ...(feature ? [feature] : [])]) expectTools(remedy ?? '');
  }
});

/** Every word of a text that looks like a tool's name is one. */
function expectTools(text: string): void {
  const verbs = new Set(tools.map(({ name }) => name.split('_')[0]));
  const names = text.match(new RegExp(`\\b(${[...verbs].join('|')})_[a-z_]+`, 'g')) ?? [];
  for (const name of names) expect(tools.map((tool) => tool.name)).toContain(name);
}

test('schemas are JSON Schema 2020-12, of objects, and choose between nothing at their root', () => {
  for (const { inputSchema, outputSchema } of tools) {
    for (const schema of [inputSchema, outputSchema]) {
      expect(ajv.validateSchema(schema)).toBe(true);
      expect(schema['type']).toBe('object');
      // Models' own interfaces refuse tools whose schema starts with a choice.
      for (const key of ['anyOf', 'oneOf', 'allOf', 'not', 'enum'])
        expect(schema).not.toHaveProperty(key);
    }
    expect(inputSchema['additionalProperties']).toBe(false);
  }
});

test('annotations are all there, and true', () => {
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
  const read = {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  };
  expect(hints['list_plants']).toEqual(read);
  expect(hints['get_insights']).toEqual(read);
  const create = { ...read, readOnlyHint: false, idempotentHint: false };
  expect(hints['create_event']).toEqual(create);
  const change = { ...read, readOnlyHint: false, destructiveHint: true };
  expect(hints['update_plant']).toEqual(change);
  expect(hints['delete_plant']).toEqual(change);
});

const scopes = new Set(
  toolRows().flatMap(([, { access }]) => ('scope' in access ? [access.scope] : [])),
);

test.each([[], ...[...scopes].map((scope) => [scope]), [...scopes]].map((each) => [each]))(
  'a token with %j sees what it can call, in the order of operations',
  async (held) => {
    const narrow = await assistant(service, { scopes: held });
    const callable = toolRows().filter(
      ([, { access }]) => !('scope' in access) || held.includes(access.scope),
    );
    expect((await listTools(narrow)).map(({ name }) => name)).toEqual(
      callable.map(([name]) => name),
    );
  },
);
