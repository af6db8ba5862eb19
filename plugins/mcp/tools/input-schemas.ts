import { isRecord } from '../../../src/core/values';
import type { Json, JsonObject, JsonSchema } from '../../../src/fields/json-schema';

/**
 * The keywords of JSON Schema that the APIs of all well-known models accept, and that converters between
 * them keep. Some refuse every message over any other, such as `exclusiveMinimum`, `uniqueItems`, `if` or
 * null in an enum, some lose an argument with `anyOf`, and google-genai fails over `additionalProperties`.
 * Lengths are left out to keep the list of tools short: they are rarely exceeded, and the operation checks them.
 */
export const COMMON_KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'items',
  'description',
  'enum',
  'format',
  'minimum',
  'maximum',
]);

/** More values are left out, like lengths; the description says them. */
const MAX_VALUES = 30;

/** The only format that they all accept. */
const COMMON_FORMAT = 'date-time';

/**
 * The same schema in common keywords only, each value with one type: it accepts all that the schema
 * accepts but null, and some that the operation then refuses. Descriptions say the rest where they can.
 */
export function inCommonKeywords(schema: JsonSchema): JsonSchema {
  const { type, properties, items, enum: values, format } = schema;
  const result = Object.fromEntries(
    Object.entries(schema).filter(([key, value]) => COMMON_KEYWORDS.has(key) && !isNoLimit(value)),
  );
  const [ofGiven] = [type].flat().filter((each) => each !== 'null');
  if (ofGiven !== undefined) result['type'] = ofGiven;
  if (format !== COMMON_FORMAT) delete result['format'];
  // Some take an enum of texts alone.
  const texts = ofGiven === 'string' && Array.isArray(values) ? values : [];
  if (texts.length === 0 || texts.length > MAX_VALUES) delete result['enum'];
  else result['enum'] = texts.filter((each) => each !== null);
  const notes = notesOf(schema);
  if (notes.length > 0) result['description'] = notes.join('; ');
  if (isRecord(items)) result['items'] = inCommonKeywords(items);
  if (isRecord(properties)) result['properties'] = mapValues(properties);
  return result;
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
function notesOf({ description, exclusiveMinimum, default: value, format }: JsonSchema): string[] {
  return [
    ...(typeof description === 'string' ? [description] : []),
    ...(format === 'date' ? ['YYYY-MM-DD'] : []),
    ...(typeof exclusiveMinimum === 'number' ? [`more than ${exclusiveMinimum}`] : []),
    ...(typeof value === 'string' ? [`default ${value}`] : []),
    ...(typeof value === 'number' || typeof value === 'boolean' ? [`default ${value}`] : []),
  ];
}
