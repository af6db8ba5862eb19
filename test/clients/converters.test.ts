import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { isRecord } from '../../src/core/values';
import { assistant, listTools, type Tool } from '../mcp/support';
import { startService } from '../support/program';
import { pythonWith } from './python';

const AGENTS = path.join(__dirname, 'agents');
const PACKAGES = [
  'google-genai==3.6.1',
  'langchain-google-genai==4.4.3',
  'langchain-mcp-adapters==0.3.2',
  'llama-index-tools-mcp==0.4.8',
  'mcp==1.30.0',
  'mcpadapt==0.1.19',
  'openai-agents==0.24.0',
];

let folder: string;
let tools: Tool[];
beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'converters-'));
  const service = await startService();
  tools = await listTools(await assistant(service));
  await service.close();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The schemas by tool that a program prints, which reads the tools. */
async function convertedBy(program: string, args: string[], cwd = AGENTS): Promise<unknown> {
  const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  const said = text(child.stderr);
  child.stdin.end(JSON.stringify(tools));
  const printed = await text(child.stdout);
  if (printed === '') throw new Error(await said);
  return JSON.parse(printed);
}

/** The arguments in a schema with their types: `plants[].name: string`, `sort: string of name|createdAt`. */
function argumentsIn(schema: unknown, place = ''): string[] {
  if (!isRecord(schema)) return [];
  const { anyOf, properties, items, const: only, enum: values = only && [only] } = schema;
  const choice: unknown = Array.isArray(anyOf) && anyOf.find((each) => !isNull(each));
  if (isRecord(choice)) return argumentsIn({ ...choice, ...schema, anyOf: [] }, place);
  const type = String(schema['type']).toLowerCase();
  const of = Array.isArray(values) ? ` of ${values.join('|')}` : '';
  return [
    ...(place === '' ? [] : [`${place}: ${type}${of}`]),
    ...argumentsIn(items, `${place}[]`),
    ...Object.entries(isRecord(properties) ? properties : {}).flatMap(([name, each]) =>
      argumentsIn(each, place === '' ? name : `${place}.${name}`),
    ),
  ].sort();
}

function isNull(schema: unknown): boolean {
  return isRecord(schema) && schema['type'] === 'null';
}

/** Expects that a model sees each argument of each tool, with its type and values. */
function expectWhole(schemas: unknown, isSeen = (_argument: string): boolean => true): void {
  expect(tools.length).toBeGreaterThan(30);
  for (const { name, inputSchema } of tools) {
    const found = isRecord(schemas) ? schemas[name] : undefined;
    const expected = argumentsIn(inputSchema).filter(isSeen);
    expect([name, argumentsIn(found)]).toEqual([name, expected]);
  }
}

test.each(['openai', 'google', 'langchain', 'crewai'])(
  'no argument or type is lost in Python: %s',
  async (converter) => {
    const python = await pythonWith(folder, PACKAGES);
    expectWhole(await convertedBy(python, ['converters.py', converter]));
  },
);

test('no argument or type is lost in LlamaIndex, which knows no objects within others', async () => {
  const python = await pythonWith(folder, PACKAGES);
  const schemas = await convertedBy(python, ['converters.py', 'llamaindex']);
  expectWhole(schemas, (argument) => !argument.includes('.'));
});

test.each(['ai-sdk', 'langchain'])(
  'no argument or type is lost in JavaScript: %s',
  async (converter) => {
    expectWhole(await convertedBy(process.execPath, ['converters.mjs', converter]));
  },
);

test("no argument or type is lost in Go: Gemini's client", async () => {
  expectWhole(await convertedBy('go', ['run', '.'], path.join(AGENTS, 'gemini')));
});
