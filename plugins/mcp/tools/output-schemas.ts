import { isRecord } from '../../../src/core/values';
import { type JsonObject, type JsonSchema, jsonSchemaOf } from '../../../src/fields/json-schema';
import type { Operation } from '../../../src/plugins/operation';

/** The output schema of a tool. */
type OutputSchema = JsonSchema & { type: 'object' };

/** Keywords that a model does not need, which sees the values: a list of tools must be short. */
const OMITTED = new Set([
  'description',
  'enum',
  'format',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'uniqueItems',
  'additionalProperties',
  'required',
]);
/** Types that say more than the value itself. */
const STRUCTURES: readonly unknown[] = ['array', 'object'];

/**
 * What a tool returns: a list that has pages over REST too (`paged`), another list, of which the tool makes
 * pages (`list`), or one that a write answers, of which it shows the first items (`written`); a record, whose
 * own lists are bounded, or whatever else (`value`).
 */
type ResultKind = 'paged' | 'list' | 'written' | 'record' | 'value';

/** The members that a tool adds to a list. */
const ENDINGS: Readonly<Record<ResultKind, JsonObject>> = {
  list: { hasMore: {}, nextCursor: {} },
  written: { count: {}, hasMore: {} },
  paged: {},
  record: {},
  value: {},
};

export function resultKindOf({ method, response }: Operation): ResultKind {
  const schema = jsonSchemaOf(response.schema, 'output');
  const properties = propertiesOf(schema) ?? {};
  if ('nextCursor' in properties) return 'paged';
  if (schema['type'] === 'array' || 'items' in properties) {
    return method === 'GET' ? 'list' : 'written';
  }
  return isResource(schema) ? 'record' : 'value';
}

/**
 * The output schemas of tools. The first tool that reads an object describes it in full; other tools
 * that return it, by itself or within another, refer to that tool. Without this most of a list of tools
 * would be repetition.
 */
export class OutputSchemas {
  /** Tools by the JSON of the object schema that they describe in full. */
  readonly #describedBy = new Map<string, string>();

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) {
      const { method, tool } = operation;
      if (method === 'GET' && 'name' in tool) this.#register(resultOf(operation), tool.name);
    }
  }

  of(operation: Operation, tool: string): OutputSchema {
    const schema = this.#compact(resultOf(operation), tool);
    const ending = ENDINGS[resultKindOf(operation)];
    if (schema['type'] === 'array') {
      return { type: 'object', properties: { items: schema, ...ending } };
    }
    return { ...schema, type: 'object', properties: { ...propertiesOf(schema), ...ending } };
  }

  #register(schema: JsonSchema, tool: string): void {
    const key = JSON.stringify(schema);
    if (propertiesOf(schema) && !this.#describedBy.has(key)) this.#describedBy.set(key, tool);
    // A resource within a resource may have a tool of its own.
    if (isResource(schema)) return;
    for (const part of [schema['items'], ...Object.values(propertiesOf(schema) ?? {})]) {
      if (isRecord(part)) this.#register(part, tool);
    }
  }

  #compact(schema: JsonSchema, tool: string): JsonSchema {
    const other = this.#describedBy.get(JSON.stringify(schema));
    if (other !== undefined && other !== tool) {
      const reference = { type: schema['type'] ?? 'object', description: `As in ${other}` };
      if (!isResource(schema)) return reference;
      return { ...reference, properties: { id: {} } };
    }
    const result: JsonSchema = {};
    for (const [key, value] of Object.entries(schema)) {
      if (!OMITTED.has(key) && (key !== 'type' || STRUCTURES.includes(value))) result[key] = value;
    }
    const { items } = schema;
    if (isRecord(items)) result['items'] = this.#compact(items, tool);
    const properties = propertiesOf(schema);
    if (properties) {
      result['properties'] = Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [
          name,
          isRecord(property) ? this.#compact(property, tool) : property,
        ]),
      );
    }
    return result;
  }
}

/** What a tool returns; a tool with two views, what the full one returns. */
function resultOf({ response, tool }: Operation): JsonSchema {
  const { schema } = (('full' in tool && tool.full) || { response }).response;
  return jsonSchemaOf(schema, 'output');
}

/** A resource, unlike other objects, has an id. */
function isResource(schema: JsonSchema): boolean {
  return propertiesOf(schema)?.['id'] !== undefined;
}

function propertiesOf({ properties }: JsonSchema): JsonObject | undefined {
  return isRecord(properties) ? properties : undefined;
}
