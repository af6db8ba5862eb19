import { isRecord } from '../../../src/core/values';
import type { Json, JsonObject, JsonSchema } from '../../../src/fields/json-schema';

/**
 * The keywords of JSON Schema that the APIs of all well-known models accept. Some refuse a whole request
 * over any other, such as `exclusiveMinimum`, `uniqueItems`, `if` or null in an enum.
 * Lengths are left out to keep the list of tools short: they are rarely exceeded, and the operation checks them.
 */
export const COMMON_KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
  'description',
  'enum',
  'format',
  'minimum',
  'maximum',
]);

/**
 * The same schema in common keywords only: it accepts all that the schema accepts, and some that the
 * operation then refuses. Descriptions say the rest where they can.
 */
export function inCommonKeywords(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf } = schema;
  const result = Object.fromEntries(
    Object.entries(schema).filter(([key, value]) => COMMON_KEYWORDS.has(key) && !isNoLimit(value)),
  );
  const notes = notesOf(schema);
  if (notes.length > 0) result['description'] = notes.join('; ');
  if (isRecord(items)) result['items'] = inCommonKeywords(items);
  if (isRecord(properties)) result['properties'] = mapValues(properties);
  if (Array.isArray(anyOf)) {
    result['anyOf'] = anyOf.map((each) => (isRecord(each) ? inCommonKeywords(each) : each));
  }
  return takesNull(schema) ? orNull(result) : result;
}

/** Whether null is one of the types of a schema. */
export function takesNull(schema: Json | undefined): boolean {
  return isRecord(schema) && [schema['type']].flat().includes('null');
}

function mapValues(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [
      name,
      isRecord(each) ? inCommonKeywords(each) : each,
    ]),
  );
}

/** The bounds of safe integers tell a model nothing, and cost tokens. */
function isNoLimit(value: Json): boolean {
  return value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER;
}

/** The parts of a description. */
function notesOf({ description, exclusiveMinimum, default: value }: JsonSchema): string[] {
  return [
    ...(typeof description === 'string' ? [description] : []),
    ...(typeof exclusiveMinimum === 'number' ? [`more than ${exclusiveMinimum}`] : []),
    ...(typeof value === 'string' ? [`default ${value}`] : []),
    ...(typeof value === 'number' || typeof value === 'boolean' ? [`default ${value}`] : []),
  ];
}

/** The same schema with null allowed; in common keywords. */
export function orNull(orGiven: JsonSchema): JsonSchema {
  const { description, ...schema } = orGiven;
  const { type, enum: values, anyOf } = schema;
  if (Array.isArray(anyOf) && anyOf.some(takesNull)) return orGiven;
  const [ofGiven] = [type].flat().filter((each) => each !== 'null');
  const given = {
    ...schema,
    ...(ofGiven === undefined ? {} : { type: ofGiven }),
    ...(Array.isArray(values) ? { enum: values.filter((each) => each !== null) } : {}),
  };
  return {
    ...(description === undefined ? {} : { description }),
    anyOf: [given, { type: 'null' }],
  };
}
