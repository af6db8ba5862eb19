/** The parts of an OpenAPI schema that are read here. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: string[];
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
}

interface Endpoint {
  operationId: string;
  tags: string[];
  parameters?: { in?: string; name: string; required?: boolean; schema?: Schema }[];
  requestBody?: { content: { 'application/json'?: { schema: Schema; example?: object } } };
  responses: Record<string, { content?: { 'application/json'?: { schema: Schema } } }>;
}

export interface Document {
  paths: Record<string, Record<string, Endpoint>>;
  components: { schemas: Record<string, Schema> };
}

/** A value as a developer would write it, and its kind. */
type Argument = [name: string, value: unknown, schema: Schema];

/** The smallest request of an operation, and the items of the list in its response. */
export interface LeastCall {
  operationId: string;
  tag: string;
  /** Its path parameters, and whether each is a UUID. */
  ids: { isUuid: boolean }[];
  query: string[];
  /** Name and properties of its body, if it has a named one. */
  body?: { name: string; least: Argument[] };
  /** The place of the list in the success response, and the fields of its items. */
  list?: { isBare: boolean; fields: string[] };
}

/** Each operation under `/api` whose body and response the document describes. */
export function leastCalls({ paths, components }: Document): LeastCall[] {
  const resolve = (schema: Schema = {}): Schema =>
    schema.$ref === undefined ? schema : (components.schemas[nameOf(schema)] ?? {});
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/') && path !== '/api/mcp')
    .flatMap(([, methods]) => Object.values(methods))
    .map((endpoint) => {
      const { operationId, tags, parameters = [], requestBody, responses } = endpoint;
      const inPath = parameters.filter((each) => each.in === 'path');
      const inQuery = parameters.filter((each) => each.in === 'query' && each.required);
      const { schema, example = {} } = requestBody?.content['application/json'] ?? {};
      const { properties = {}, required = [] } = resolve(schema);
      const given = Object.entries(example).filter(([name]) => required.includes(name));
      const good = Object.entries(responses).find(([status]) => status.startsWith('2'));
      const answer = resolve(good?.[1].content?.['application/json']?.schema);
      // A response that is a list only for some requests may have no items.
      const list = answer.required?.includes('items') ? answer.properties?.['items'] : answer;
      const item = resolve(list?.items);
      return {
        operationId,
        tag: tags[0] ?? '',
        ids: inPath.map((each) => ({ isUuid: each.schema?.format === 'uuid' })),
        query: inQuery.map(({ name }) => name),
        ...(schema
          ? {
              body: {
                name: nameOf(schema),
                least: given.map(([name, value]): Argument => [
                  name,
                  value,
                  properties[name] ?? {},
                ]),
              },
            }
          : {}),
        ...(item.properties
          ? { list: { isBare: answer.items !== undefined, fields: Object.keys(item.properties) } }
          : {}),
      };
    });
}

function nameOf({ $ref = '' }: Schema): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

/** TypeScript that sends the smallest request of each operation and reads each list, with the types of openapi-typescript. */
export function inTypeScript(calls: readonly LeastCall[]): string {
  const lines = calls.flatMap(({ operationId, body, list }) => {
    const least = Object.fromEntries((body?.least ?? []).map(([name, value]) => [name, value]));
    const items = list?.isBare === true ? 'answer' : 'answer.items';
    return [
      ...(body
        ? [`const _${operationId}: Body<'${operationId}'> = ${JSON.stringify(least)};`]
        : []),
      ...(list
        ? [
            `const _${operationId}List = (answer: Answer<'${operationId}'>) =>`,
            `  [${list.fields.map((field) => `${items}[0]?.${field}`).join(', ')}];`,
          ]
        : []),
    ];
  });
  return `import type { operations } from './types';
    type Json<T> = T extends { content: { 'application/json': infer Value } } ? Value : never;
    type Body<K extends keyof operations> =
      operations[K] extends { requestBody: infer Sent } ? Json<Sent> : never;
    type Answer<K extends keyof operations> =
      Json<operations[K]['responses'][keyof operations[K]['responses'] & (200 | 201)]>;
    ${lines.join('\n').replaceAll('const _', 'export const ')}`;
}

/** The same in Python, with openapi-python-client. */
export function inPython(calls: readonly LeastCall[]): string {
  const blocks = calls.flatMap(({ operationId, tag, ids, query, body, list }) => {
    const name = snake(operationId);
    const imports = [
      `from plant_care.api.${snake(tag)} import ${name}`,
      ...(body ? [`from plant_care.models import ${body.name}`] : []),
    ];
    const args = [
      ...ids.map(({ isUuid }) => (isUuid ? 'UUID(ID)' : 'ID')),
      'client=client',
      ...(body
        ? [
            `body=${body.name}(${body.least.map(([key, ...of]) => `${snake(key)}=${pythonOf(...of, `${body.name}${key[0]?.toUpperCase()}${key.slice(1)}`)}`).join(', ')})`,
          ]
        : []),
      ...query.map((each) => `${snake(each)}=0`),
    ];
    const call = `${name}.sync(${args.join(', ')})`;
    const items = list?.isBare === true ? 'answer' : 'answer.items';
    const kind =
      list?.isBare === true
        ? 'isinstance(answer, list)'
        : 'answer is not None and not isinstance(answer, Error)';
    return [
      ...imports,
      `def use_${name}() -> None:`,
      ...(list
        ? [
            `    answer = ${call}`,
            `    if ${kind}:`,
            ...list.fields.map((field) => `        print(${items}[0].${snake(field)})`),
          ]
        : [`    ${call}`]),
    ];
  });
  return [
    'import datetime',
    'from uuid import UUID',
    'from plant_care import AuthenticatedClient',
    'from plant_care import models',
    'from plant_care.models import Error',
    "client = AuthenticatedClient(base_url='', token='')",
    "ID = '0198e4a2-7c1b-7d6e-9f3a-2b5c8d4e6f10'",
    ...blocks,
    '',
  ].join('\n');
}

/** @param kind the generator's name for the type if the schema has none */
function pythonOf(value: unknown, schema: Schema, kind: string): string {
  const { format, items } = schema;
  if (Array.isArray(value))
    return `[${value.map((each) => pythonOf(each, items ?? {}, `${kind}Item`)).join(', ')}]`;
  if (schema.$ref !== undefined) return `models.${nameOf(schema)}(${JSON.stringify(value)})`;
  const text = JSON.stringify(value);
  if (schema.enum) return `models.${kind}(${text})`;
  if (format === 'uuid') return `UUID(${text})`;
  if (format === 'date') return `datetime.date.fromisoformat(${text})`;
  return text;
}

/** Names that are reserved in Python. */
const TAKEN = new Set(['from', 'bytes', 'format', 'type']);

function snake(name: string): string {
  const words = name.replace(/(?<=.)[A-Z]/g, (letter) => `_${letter}`).replaceAll(' ', '_');
  return TAKEN.has(name) ? `${name}_` : words.toLowerCase();
}
