import Joi from 'joi';

import { isUuid, UUID_PATTERN } from '../core/ids';

/** Joi messages of the rules below; each reads on from the name of the field. */
const MESSAGES = {
  'text.nul': '{{#label}} must not contain a NUL character',
  'text.surrogate': '{{#label}} must be well-formed Unicode',
  'id.uuid': '{{#label}} must be a UUID',
  'timestamp.rfc3339':
    '{{#label}} must be an RFC 3339 date-time with an offset, such as 2026-03-01T09:30:00Z',
};

/**
 * A string kept exactly as sent; lengths are in UTF-16 code units (docs/decisions.md, "Requests").
 * What MongoDB or JSON could not give back unchanged is refused: NUL, lone surrogates.
 */
export function text(limits: { min?: number; max?: number } = {}): Joi.StringSchema {
  let schema = Joi.string().custom((value: string, helpers) => {
    if (value.includes('\0')) return helpers.error('text.nul');
    return value.isWellFormed() ? value : helpers.error('text.surrogate');
  });
  if (limits.min === undefined) schema = schema.allow('');
  else schema = schema.min(limits.min);
  if (limits.max !== undefined) schema = schema.max(limits.max);
  return schema.messages(MESSAGES);
}

/** The text form of a UUID. */
export function id(): Joi.StringSchema {
  return Joi.string()
    .custom((value: string, helpers) => (isUuid(value) ? value : helpers.error('id.uuid')))
    .meta({ jsonSchema: { format: 'uuid', pattern: UUID_PATTERN } })
    .messages(MESSAGES);
}

/**
 * Joi looks at every item before it looks at how many there are; here a list that is too long is
 * refused at once.
 */
const boundedFirst = Joi.extend({
  type: 'array',
  base: Joi.array(),
  validate: (value: unknown[], { schema, error }) => {
    const limit: unknown = schema.$_getRule('max')?.args?.['limit'];
    return typeof limit === 'number' && value.length > limit
      ? { value, errors: error('array.max', { limit, value }) }
      : undefined;
  },
}) as Joi.Root; // It has the methods of any Joi, which says of extensions that they are any.

/** The text forms of several UUIDs, all different. */
export function idList(max: number): Joi.ArraySchema {
  return boundedFirst
    .array()
    .items(id())
    .max(max)
    .unique((a: string, b: string) => a.toLowerCase() === b.toLowerCase())
    .meta({ jsonSchema: { uniqueItems: true } });
}

/** An http or https URL. */
export function url(max: number): Joi.StringSchema {
  return text({ min: 1, max })
    .uri({ scheme: [/[hH][tT][tT][pP][sS]?/] })
    .meta({ jsonSchema: { pattern: '^[hH][tT][tT][pP][sS]?://[^/?#]' } });
}

/** One of the strings given. */
export function oneOf(values: readonly string[]): Joi.StringSchema {
  return Joi.string().valid(...values);
}

export function integer(min?: number, max?: number): Joi.NumberSchema {
  let schema = Joi.number().integer();
  if (min !== undefined) schema = schema.min(min);
  if (max !== undefined) schema = schema.max(max);
  return schema;
}

/** A date-time of a request, which becomes the instant that it means. */
export function timestamp(): Joi.DateSchema {
  const schema = Joi.string()
    .custom((value: string, helpers) => parseTimestamp(value) ?? helpers.error('timestamp.rfc3339'))
    .meta({ jsonSchema: { format: 'date-time', pattern: RFC3339.source } })
    .messages(MESSAGES);
  // The custom rule turns the string into a Date, which Joi's type does not follow.
  return schema as unknown as Joi.DateSchema;
}

/** A date-time of a response. */
export function instant(): Joi.DateSchema {
  return Joi.date().meta({ jsonSchema: { format: 'date-time' } });
}

/** The same schema, or null. */
export function nullable<S extends Joi.Schema>(schema: S): S {
  // Joi types `allow` of every schema as returning its own kind, but not generically.
  return schema.allow(null) as S;
}

/** An object schema with more keys, or others; the caller says of which type it then is. */
export function withKeys<T>(
  schema: Joi.ObjectSchema,
  keys: Readonly<Record<string, Joi.Schema | undefined>>,
): Joi.ObjectSchema<T> {
  const given = Object.entries(keys).filter(([, key]) => key !== undefined);
  // Joi's own types allow no key that was not there.
  return schema.keys(Object.fromEntries(given)) as Joi.ObjectSchema<T>;
}

/** The Success body of section 2.13. */
export const success = Joi.object({ success: Joi.boolean().required() });

const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * The instant of an RFC 3339 date-time with an offset, to the millisecond; undefined for anything
 * else, dates that no calendar has and instants outside the years 0 to 9999 included.
 */
export function parseTimestamp(value: string): Date | undefined {
  const match = RFC3339.exec(value.toUpperCase());
  if (!match) return undefined;
  const [, year, month, day, hours, minutes, seconds, fraction = '', zone = 'Z'] = match;
  const calendarDay = new Date(`${String(year)}-${String(month)}-${String(day)}T00:00:00Z`);
  if (Number.isNaN(calendarDay.getTime())) return undefined;
  // JavaScript rolls 30 February over into March instead of refusing it.
  if (calendarDay.getUTCDate() !== Number(day)) return undefined;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const instantOf = new Date(
    `${String(year)}-${String(month)}-${String(day)}T${String(hours)}:${String(minutes)}:${String(seconds)}.${milliseconds}${zone}`,
  );
  const utcYear = instantOf.getUTCFullYear();
  return utcYear >= 0 && utcYear <= 9999 ? instantOf : undefined;
}
