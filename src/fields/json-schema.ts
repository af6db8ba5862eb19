import type Joi from 'joi';

import { isRecord } from '../core/values';
import { type Description, descriptionOf, type When } from './description';
import { nameOf } from './joi';

/** A value of JSON. */
export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** Requests or responses. */
type Direction = 'input' | 'output';

/** A schema in JSON Schema 2020-12. */
export type JsonSchema = JsonObject;

/** Collects named schemas, and returns references to them. */
export interface SharedSchemas {
  refer(name: string, schema: JsonSchema): JsonSchema;
}

/**
 * Translates a Joi schema to JSON Schema. It corrects and completes Joi's own translation; rules that
 * are functions describe themselves by `.meta({ jsonSchema: … })`.
 *
 * @param shared collects named schemas; without it examples are left out too
 * @throws Error for a rule that cannot be translated
 */
export function jsonSchemaOf(
  schema: Joi.Schema,
  direction: Direction,
  shared?: SharedSchemas,
): JsonSchema {
  const translated = standardOf(schema)[direction]({ target: 'draft-2020-12' });
  return normalized(translated, schema, { direction, shared });
}

type Translate = (options: { target: 'draft-2020-12' }) => JsonSchema;

function standardOf(schema: Joi.Schema): Record<Direction, Translate> {
  // Joi implements the Standard JSON Schema interface, but its types do not have it.
  return (schema as unknown as { '~standard': { jsonSchema: Record<Direction, Translate> } })[
    '~standard'
  ].jsonSchema;
}

interface Translation {
  direction: Direction;
  shared: SharedSchemas | undefined;
}

function normalized(json: JsonSchema, schema: Joi.Schema, translation: Translation): JsonSchema {
  const { direction, shared } = translation;
  const description = descriptionOf(schema);
  const shownAs = description.metas.find((meta) => meta.shownAs)?.shownAs;
  if (shownAs) return jsonSchemaOf(shownAs, direction, shared);
  const result = { ...json };
  for (const { jsonSchema } of description.metas) Object.assign(result, jsonSchema);
  // Joi adds it to every string that may not be empty, which these rules imply.
  if ('format' in result || 'pattern' in result) delete result['minLength'];
  if (direction === 'output') delete result['pattern'];
  normalizeNull(result);
  if (direction === 'input') normalizeInteger(result, description);
  const [item] = description.items;
  if (isRecord(result['items']) && item) {
    result['items'] = normalized(result['items'], item, translation);
  }
  const { anyOf } = result;
  if (Array.isArray(anyOf)) {
    result['anyOf'] = anyOf.map((choice, index) => {
      const match = description.matches[index];
      return isRecord(choice) && match ? normalized(choice, match, translation) : choice;
    });
  }
  if (isRecord(result['properties'])) normalizeProperties(result, description, translation);
  Object.assign(result, oneOfKeys(description));
  if (!shared) return result;
  // Examples of what JSON holds are JSON.
  if (description.examples.length > 0) result['examples'] = description.examples as Json[];
  const name = nameOf(description);
  if (name === undefined) return result;
  return 'enum' in result ? sharedEnum(name, result, shared) : shared.refer(name, result);
}

/** The description of a field, and whether it is nullable, are not part of its enum. */
function sharedEnum(
  name: string,
  { type, enum: values = [], ...field }: JsonSchema,
  shared: SharedSchemas,
): JsonSchema {
  const reference = shared.refer(name, {
    type: 'string',
    enum: [values].flat().filter((value) => value !== null),
  });
  const isNullable = [type].flat().includes('null');
  return { ...field, ...(isNullable ? { anyOf: [reference, { type: 'null' }] } : reference) };
}

/** Joi lists null among the types of an enum, but not among its values. */
function normalizeNull(json: JsonSchema): void {
  const { type, enum: values } = json;
  if (Array.isArray(type)) json['type'] = [...new Set(type)];
  if (Array.isArray(type) && type.includes('null') && Array.isArray(values)) {
    json['enum'] = [...new Set([...values, null])];
  }
}

/** Joi refuses unsafe integers, but does not translate that. */
function normalizeInteger(json: JsonSchema, { isUnsafe }: Description): void {
  if (isUnsafe || ![json['type']].flat().includes('integer')) return;
  json['minimum'] ??= Number.MIN_SAFE_INTEGER;
  json['maximum'] ??= Number.MAX_SAFE_INTEGER;
}

/**
 * Translates `xor` and `or`. Client generators turn `oneOf`, which would be shorter for the former, into a body
 * of any shape.
 */
function oneOfKeys({ dependencies }: Description): JsonSchema {
  if (dependencies.length === 0) return {};
  const groups = dependencies.map(({ rel, peers }) => {
    if (!['xor', 'or'].includes(rel)) {
      throw new Error(`The rule ${rel} of an object cannot be translated.`);
    }
    return { rel, names: peers.map(({ path }) => path.join('.')) };
  });
  const keysAs = (names: readonly string[], schema: JsonSchema): JsonSchema => ({
    properties: Object.fromEntries(names.map((name) => [name, schema])),
  });
  const none = groups.map(({ names }) => keysAs(names, { not: {} }));
  const exclusive = groups.filter(({ rel }) => rel === 'xor');
  const pairs = exclusive.flatMap(({ names }) =>
    names.flatMap((name, place) => names.slice(place + 1).map((other) => [name, other])),
  );
  const two = pairs.map((pair) => ({ ...keysAs(pair, {}), required: pair }));
  return { not: { anyOf: [...none, ...two] } };
}

function normalizeProperties(
  json: JsonSchema,
  { keys }: Description,
  translation: Translation,
): void {
  const properties: JsonObject = {};
  for (const [name, schema] of keys) {
    const property = propertiesOf(json)[name];
    if (!isRecord(property)) continue;
    const [when] = descriptionOf(schema).whens;
    properties[name] = normalized(
      when ? conditional(json, name, when, property) : property,
      schema,
      translation,
    );
  }
  json['properties'] = properties;
}

/**
 * Translates `when`, which Joi turns into a choice between both cases: the first becomes a condition on
 * the object, the second is the rule of the field.
 */
function conditional(json: JsonSchema, name: string, when: When, property: JsonObject): JsonSchema {
  const [first, second] = Array.isArray(property['anyOf']) ? property['anyOf'] : [];
  const [field] = when.ref?.path ?? [];
  if (!isRecord(first) || !isRecord(second) || field === undefined || 'if' in json) {
    throw new Error(`The rule of ${name} that depends on another field cannot be translated.`);
  }
  // Values in JSON are compared with JSON.
  const allowed = (when.is?.describe() as { allow?: Json[] } | undefined)?.allow ?? [];
  json['if'] = { properties: { [field]: { enum: allowed } }, required: [field] };
  json['then'] = { properties: { [name]: { enum: first['enum'] ?? [] } } };
  return second;
}

function propertiesOf(json: JsonSchema): JsonObject {
  return isRecord(json['properties']) ? json['properties'] : {};
}
