import type Joi from 'joi';
import pino from 'pino';

import { App } from '../../src/app/app';
import { DAY_MS } from '../../src/core/time';
import type { Operation } from '../../src/plugins/operation';
import { operationName } from '../../src/plugins/operation-facts';
import { pluginsUnderTest } from './plugins';

const app = new App({ plugins: pluginsUnderTest(), env: {}, log: pino({ level: 'silent' }) });

/** All operations, and all other endpoints. */
export const { operations: OPERATIONS, protocols: PROTOCOLS } = app.description;

/** The operations that tools call, by the name of the tool: rows for `test.each`. */
export function toolRows(): [tool: string, operation: Operation][] {
  return app.operations.flatMap((operation) =>
    'name' in operation.tool ? [[operation.tool.name, operation.tool.instead ?? operation]] : [],
  );
}

/** Those that take two people (plugins/members/test). */
const OF_TWO = ['POST /api/gardens/join', 'DELETE /api/gardens/{id}'];

/**
 * All operations by name: rows for `test.each`. Without the one that deletes the caller's account
 * (plugins/accounts/test/own-tokens.test.ts), those on the accounts of others (plugins/backend/test) and
 * those that take two people.
 */
export function operationRows(): [name: string, operation: Operation][] {
  return app.operations
    .map((operation): [string, Operation] => [operationName(operation), operation])
    .filter(([name]) => name !== 'DELETE /api/account' && !name.includes(' /api/accounts'))
    .filter(([name]) => !OF_TWO.includes(name));
}

/** The methods of clients for each HTTP method. */
export const CLIENT_METHODS = {
  GET: 'get',
  POST: 'post',
  PUT: 'put',
  PATCH: 'patch',
  DELETE: 'delete',
} as const;

/** A field of a request, as its schema describes it. */
export interface Field {
  name: string;
  type: 'string' | 'number' | 'boolean' | 'array';
  required: boolean;
  nullable: boolean;
  /** The only values of an enum. */
  values: readonly unknown[];
  format: string | undefined;
  min: number | undefined;
  max: number | undefined;
  /** An exclusive minimum. */
  greater: number | undefined;
  /** The example of the schema, if none can be derived. */
  example: unknown;
  /** The items of a list. */
  items: Field | undefined;
}

// The part of Joi's describe() that is read here; Joi types it loosely.
interface Described {
  type: Field['type'];
  flags?: { presence?: string; only?: boolean };
  allow?: unknown[];
  rules?: { name: string; args?: { limit?: unknown } }[];
  metas?: { jsonSchema?: { format?: string } }[];
  items?: Described[];
  examples?: unknown[];
}

const fields = new WeakMap<Joi.ObjectSchema, readonly Field[]>();

/** Fields that exclude each other; samples have the first. */
export function alternativesOf(schema: Joi.ObjectSchema | undefined): readonly string[][] {
  return groupsOf(schema, 'xor');
}

/** Fields that go together by a rule of Joi. */
function groupsOf(schema: Joi.ObjectSchema | undefined, rule: string): readonly string[][] {
  // Joi's own terms, since `describe()` takes longer than most requests.
  const { dependencies } = (schema?.$_terms ?? {}) as {
    dependencies?: { rel: string; paths: string[] }[] | null;
  };
  return (dependencies ?? []).flatMap(({ rel, paths }) => (rel === rule ? [paths] : []));
}

/** The example of a body, if it has one. */
function exampleOf(schema: Joi.ObjectSchema | undefined): Record<string, unknown> | undefined {
  const { examples } = (schema?.$_terms ?? {}) as { examples?: Record<string, unknown>[] | null };
  return examples?.[0];
}

export function fieldsOf(schema: Joi.ObjectSchema | undefined): readonly Field[] {
  if (!schema) return [];
  const known = fields.get(schema);
  if (known) return known;
  const keys = (schema.describe().keys ?? {}) as Record<string, Described>;
  const found = Object.entries(keys).map(([name, described]) => fieldOf(name, described));
  fields.set(schema, found);
  return found;
}

function fieldOf(name: string, described: Described): Field {
  const { type, flags = {}, allow = [], rules = [], metas = [], items = [], examples } = described;
  const limit = (rule: string): number | undefined => {
    const found = rules.find((each) => each.name === rule)?.args?.limit;
    return typeof found === 'number' ? found : undefined;
  };
  const isUri = rules.some((rule) => rule.name === 'uri');
  const [item] = items;
  return {
    name,
    type,
    required: flags.presence === 'required',
    nullable: allow.includes(null),
    values: flags.only === true ? allow.filter((value) => value !== null) : [],
    format:
      metas.find((meta) => meta.jsonSchema)?.jsonSchema?.format ?? (isUri ? 'uri' : undefined),
    min: limit('min'),
    max: limit('max'),
    greater: limit('greater'),
    example: examples?.[0],
    items: item && fieldOf(`${name}[0]`, item),
  };
}

/** Ids of records by kind, such as `plant` of `plant_not_found`. */
export type Ids = Readonly<Record<string, string>>;

export interface SampleRequest {
  method: Operation['method'];
  /** With its parameters filled in, and the query. */
  path: string;
  /** Undefined if the operation has none. */
  body: Record<string, unknown> | undefined;
  /** The same as arguments of a tool. */
  toolArguments: Record<string, unknown>;
}

/** The kind of record of a path parameter: `plant`, `event`, `photo`. */
export function kindOf(operation: Operation, parameter: string): string {
  if (parameter === operation.account) return 'account';
  return operation.params?.[parameter]?.code.replace('_not_found', '') ?? '';
}

/** All kinds of records in paths. */
export const kinds: readonly string[] = [
  ...new Set(
    operationRows().flatMap(([, operation]) =>
      Object.keys(operation.params ?? {}).map((name) => kindOf(operation, name)),
    ),
  ),
];

/** The same id for each kind. */
export function idOfEveryKind(id: string): Ids {
  return Object.fromEntries(kinds.map((kind) => [kind, id]));
}

/**
 * The kind of record that a field of a body refers to, if any. It follows from the operation's error for
 * an unknown id.
 */
export function referenceOf(operation: Operation, field: Field): string | undefined {
  if ((field.format ?? field.items?.format) !== 'uuid') return undefined;
  const named = (operation.errors ?? [])
    .filter(({ code }) => code.endsWith('_not_found'))
    .map(({ code }) => code.replace('_not_found', ''));
  const kind = named.find((each) => field.name.toLowerCase().includes(each)) ?? named[0];
  if (kind !== undefined) return kind;
  throw new Error(
    `${operationName(operation)}: ${field.name} is the id of a record, so errors must have the error for an unknown one.`,
  );
}

/** The path of an operation with ids in it. */
export function pathOf(operation: Operation, ids: Ids): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[kindOf(operation, name)];
    if (id !== undefined) return id;
    throw new Error(`${operationName(operation)}: there is no id of a ${kindOf(operation, name)}.`);
  });
}

/** Fields that the value of another field requires. */
const NEEDED: Readonly<Record<string, string>> = { 'POST /api/account/reminders': 'url' };

/** A request with only the required fields. */
export function validRequest(operation: Operation, ids: Ids): SampleRequest {
  const needed = NEEDED[operationName(operation)];
  return requestOf(operation, ids, ({ name, required }) => required || name === needed);
}

/** A request with all fields, except references to records without a known id. */
export function fullRequest(operation: Operation, ids: Ids): SampleRequest {
  return requestOf(operation, ids, (field) => {
    const kind = referenceOf(operation, field);
    return kind === undefined || kind in ids;
  });
}

function requestOf(
  operation: Operation,
  ids: Ids,
  includes: (field: Field) => boolean,
): SampleRequest {
  const { method, params = {}, tool } = operation;
  const alternatives = alternativesOf(operation.body);
  const chosen = [...alternatives, ...groupsOf(operation.body, 'or')].flatMap((names) =>
    names.slice(0, 1),
  );
  const others = alternatives.flatMap((names) => names.slice(1));
  const example = exampleOf(operation.body);
  const isIncluded = (field: Field): boolean => {
    const { name } = field;
    if (chosen.includes(name)) return true;
    if (others.includes(name) || (example && !(name in example))) return false;
    return includes(field);
  };
  const samples = (fields: readonly Field[]): Record<string, unknown> =>
    Object.fromEntries(
      fields.map((field) => [field.name, example?.[field.name] ?? sampleOf(operation, field, ids)]),
    );
  const query = samples(fieldsOf(operation.query).filter(({ required }) => required));
  const body = operation.body && samples(fieldsOf(operation.body).filter(isIncluded));
  const search = Object.entries(query).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  );
  const path = pathOf(operation, ids);
  const inPath: Record<string, unknown> = Object.fromEntries(
    Object.keys(params).map((name) => [name, ids[kindOf(operation, name)]]),
  );
  const requires = ('name' in tool && tool.requires) || [];
  const ofTool = fieldsOf(operation.body).filter(({ name }) => requires.includes(name));
  return {
    method,
    path: search.length === 0 ? path : `${path}?${search.join('&')}`,
    body,
    toolArguments: { ...inPath, ...query, ...samples(ofTool), ...body },
  };
}

/** A valid value of a field. */
function sampleOf(operation: Operation, field: Field, ids: Ids): unknown {
  const { type, values, format, min = 0, max = Infinity, greater, items, example } = field;
  if (example !== undefined) return example;
  if (values.length > 0) return values[0];
  if (type === 'number')
    return greater === undefined ? Math.min(Math.max(min, 0), max) : greater + 1;
  if (type === 'boolean') return false;
  if (type === 'array') {
    const kind = referenceOf(operation, field);
    if (kind !== undefined) return [ids[kind]];
    return items ? [sampleOf(operation, items, ids)] : [];
  }
  if (format === 'uuid') return ids[referenceOf(operation, field) ?? ''];
  if (format === 'uri') return 'https://images.example.com/fern.jpg';
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString();
  if (format === 'date-time') return field.name === 'until' ? tomorrow : '2026-03-01T09:30:00Z';
  // Plans are for days in the future.
  if (format === 'date') return tomorrow.slice(0, 10);
  return 'fern'.padEnd(min, '-').slice(0, max);
}
