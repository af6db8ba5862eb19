import { DAY_MS } from '../../../src/core/time';
import { isRecord } from '../../../src/core/values';
import type { Json, JsonObject, JsonSchema } from '../../../src/fields/json-schema';
import type { Components } from './components';

const nextWeek = (): string => new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10);

/** A realistic value of each format. */
const BY_FORMAT: Readonly<Record<string, string | (() => string)>> = {
  uuid: '0198e4a2-7c1b-7d6e-9f3a-2b5c8d4e6f10',
  'date-time': '2026-03-01T09:30:00.000Z',
  // In the near future: care cannot be snoozed to a past day.
  date: nextWeek,
  uri: 'https://example.com/',
};

/** The properties of an object's example: all, or those that a client would send. */
type Extent = 'all' | 'typical';

/**
 * A value that matches a schema.
 *
 * @param extent `typical`: required properties, and those with an example
 */
export function exampleOf(given: JsonSchema, components: Components, extent: Extent): Json {
  const schema = components.resolve(given);
  const { examples, default: fallback, enum: values, anyOf, items, format } = schema;
  const [example] = Array.isArray(examples) ? examples : [];
  const [value] = Array.isArray(values) ? values : [];
  const [choice] = Array.isArray(anyOf) ? anyOf : [];
  const types = [schema['type']].flat();
  if (example !== undefined) return example;
  if (fallback !== undefined) return fallback;
  const known = typeof format === 'string' ? BY_FORMAT[format] : undefined;
  if (known !== undefined) return typeof known === 'string' ? known : known();
  if (types.includes('null')) return null;
  if (value !== undefined) return value;
  if (isRecord(choice)) return exampleOf(choice, components, extent);
  switch (types[0]) {
    case 'object':
      return exampleOfObject(schema, components, extent);
    case 'array':
      return isRecord(items) ? [exampleOf(items, components, extent)] : [];
    case 'integer':
    case 'number':
      return Math.max(1, Number(schema['minimum'] ?? 1));
    case 'boolean':
      return true;
    default:
      return 'text';
  }
}

function exampleOfObject(schema: JsonSchema, components: Components, extent: Extent): JsonObject {
  const { properties = {}, required = [] } = schema;
  return Object.fromEntries(
    Object.entries(isRecord(properties) ? properties : {}).flatMap(([name, property]) => {
      if (!isRecord(property)) return [];
      const isTypical = [required].flat().includes(name) || 'examples' in property;
      return isTypical || extent === 'all' ? [[name, exampleOf(property, components, extent)]] : [];
    }),
  );
}
