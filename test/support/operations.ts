import type Joi from 'joi';
import pino from 'pino';

import { App } from '../../src/app/app';
import { loadPlugins } from '../../src/plugins/loader';
import { type Operation, operationName } from '../../src/plugins/operation';

/** All operations by name, known before anything is started: rows for `test.each`. */
export function operationRows(): [name: string, operation: Operation][] {
  const app = new App({ plugins: loadPlugins(), env: {}, log: pino({ level: 'silent' }) });
  return app.operations.map((operation) => [operationName(operation), operation]);
}

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
  /** What the elements of a list are. */
  items: Field | undefined;
}

// What Joi's describe() answers, as far as it is read here; Joi itself types it loosely.
interface Described {
  type: Field['type'];
  flags?: { presence?: string; only?: boolean };
  allow?: unknown[];
  rules?: { name: string; args?: { limit?: unknown } }[];
  metas?: { jsonSchema?: { format?: string } }[];
  items?: Described[];
}

export function fieldsOf(schema: Joi.ObjectSchema | undefined): Field[] {
  const keys = (schema?.describe().keys ?? {}) as Record<string, Described>;
  return Object.entries(keys).map(([name, described]) => fieldOf(name, described));
}

function fieldOf(name: string, described: Described): Field {
  const { type, flags = {}, allow = [], rules = [], metas = [], items = [] } = described;
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
    items: item && fieldOf(`${name}[0]`, item),
  };
}

/** A value that a field takes. */
function sampleOf({ type, values, format, min }: Field): unknown {
  if (values.length > 0) return values[0];
  if (type === 'number') return Math.max(min ?? 0, 0);
  if (type === 'boolean') return false;
  if (type === 'array') return [];
  if (format === 'uri') return 'https://images.example.com/fern.jpg';
  if (format === 'date-time') return '2026-03-01T09:30:00Z';
  return 'fern';
}

/** Records of each kind that paths name, by the kind that "… not found" names. */
export type Ids = Readonly<Record<string, string>>;

export interface SampleRequest {
  method: Operation['method'];
  path: string;
  /** Undefined where the operation takes none. */
  body: Record<string, unknown> | undefined;
}

/** What a path parameter stands for: `plant`, `event`, `photo`. */
export function kindOf(operation: Operation, parameter: string): string {
  return operation.params?.[parameter]?.code.replace('_not_found', '') ?? '';
}

/** The same id for whatever a path may name. */
export function idOfEveryKind(id: string): Ids {
  const kinds = operationRows().flatMap(([, operation]) =>
    Object.keys(operation.params ?? {}).map((name) => kindOf(operation, name)),
  );
  return Object.fromEntries(kinds.map((kind) => [kind, id]));
}

/** The path of an operation with ids in it. */
export function pathOf(operation: Operation, ids: Ids): string {
  return operation.path.replace(
    /\{(\w+)\}/g,
    (_, name: string) => ids[kindOf(operation, name)] ?? name,
  );
}

/** A request with all that is required and nothing else. */
export function validRequest(operation: Operation, ids: Ids): SampleRequest {
  const path = pathOf(operation, ids);
  const required = (schema: Joi.ObjectSchema | undefined): Record<string, unknown> =>
    Object.fromEntries(
      fieldsOf(schema)
        .filter((field) => field.required)
        .map((field) => [field.name, sampleOf(field)]),
    );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(required(operation.query))) {
    search.set(name, String(value));
  }
  const query = search.toString();
  return {
    method: operation.method,
    path: query === '' ? path : `${path}?${query}`,
    body: operation.body && required(operation.body),
  };
}
