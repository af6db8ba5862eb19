import { INSTRUCTIONS } from '../../plugins/mcp/instructions';
import { startService, type TestService } from '../support/service';
import { ajv, assistant, type Assistant, listTools, post, rpc, type Tool, TOOLS } from './support';

/** What a list of these tools may cost a model, in characters. */
const LONGEST_LIST = 24_000;

let service: TestService;
let me: Assistant;
let tools: Tool[];

beforeAll(async () => {
  service = await startService();
  me = await assistant(service);
  tools = await listTools(me);
});
afterAll(() => service.close());

test('every operation is a tool under its name, in the order of operations', () => {
  const names = service.app.operations.flatMap(({ tool }) => ('name' in tool ? [tool.name] : []));
  expect(tools.map(({ name }) => name)).toEqual(names);
  expect(names).toEqual(expect.arrayContaining(TOOLS));
});

test('the whole list is affordable', async () => {
  const { body } = await post(me, rpc('tools/list'));
  const { tools: all } = body.result as { tools: Tool[] }; // What MCP has a list hold.
  const own = all.filter(({ name }) => TOOLS.includes(name));
  expect(JSON.stringify({ tools: own }).length).toBeLessThan(LONGEST_LIST);
});

test('the instructions are short, and name only tools that there are', () => {
  expect(INSTRUCTIONS.length).toBeLessThan(1024);
  expectTools(INSTRUCTIONS);
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
  const names = text.match(/\b(list|get|create|update|delete|crop)_[a-z_]+/g) ?? [];
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

test.each([
  [
    ['plants:read'],
    'get_photo,get_plant,list_announcements,list_events,list_locations,list_month_events,list_plants',
  ],
  [['events:write'], 'create_event,delete_event,list_announcements,update_event'],
  [['insights:read'], 'get_insights,list_announcements'],
  [[], 'list_announcements'],
])('a token with %j sees what it can call', async (scopes, expected) => {
  const narrow = await assistant(service, { scopes });
  const names = (await listTools(narrow)).map(({ name }) => name);
  expect([...names].sort().join()).toBe(expected);
  expect(names).toEqual(tools.map(({ name }) => name).filter((name) => names.includes(name)));
});
