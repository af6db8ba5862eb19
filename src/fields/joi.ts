import Joi from 'joi';

import { isUuid, UUID_PATTERN } from '../core/ids';
import { languageTag } from '../core/text/text';
import { HOUR_MS, isCalendarDay, parseTimestamp, RFC3339, timezoneName } from '../core/time';
import { descriptionOf, type Description } from './description';

/** Messages in place of Joi's own, and of the rules below. */
const MESSAGES = {
  'string.empty': '{{#label}} must not be empty',
  'string.min': '{{#label}} must have at least {{#limit}} characters',
  'string.max': '{{#label}} must have at most {{#limit}} characters',
  'number.infinity': '{{#label}} is out of range',
  'number.unsafe': '{{#label}} is out of range',
  'array.min': '{{#label}} must contain at least {{#limit}} {if(#limit == 1, "item", "items")}',
  'array.max': '{{#label}} must contain at most {{#limit}} items',
  'array.unique': '{{#label}} repeats an earlier item',
  'text.nul': '{{#label}} must not contain a NUL character',
  'text.surrogate': '{{#label}} must be well-formed Unicode',
  'id.uuid': '{{#label}} must be a UUID',
  'range.order': '{{#label}} must not be before {{#start}}',
  'day.calendar': '{{#label}} must be a calendar day, such as 2026-03-01',
  'timezone.iana': '{{#label}} must be an IANA time zone, such as Europe/Paris or UTC',
  'language.bcp47': '{{#label}} must be a language tag (BCP 47), such as en, fr or pt-BR',
  'string.timeOfDay': '{{#label}} must be a time of day, such as 07:00',
  'timestamp.rfc3339':
    '{{#label}} must be an RFC 3339 date-time with an offset, such as 2026-03-01T09:30:00Z',
  'timestamp.ahead': '{{#label}} must be at most {{#hours}} hours from now',
};

/** Joi with these messages, which are compiled once. */
const joi: Joi.Root = Joi.defaults((schema) => schema.messages(MESSAGES));

/**
 * A string, stored as sent; lengths are in UTF-16 code units (docs/api.md, "Requests"). NUL and lone
 * surrogates are refused, since MongoDB and JSON cannot return them unchanged.
 */
export function text(limits: { min?: number; max?: number } = {}): Joi.StringSchema {
  let schema = joi.string().custom((value: string, helpers) => {
    if (value.includes('\0')) return helpers.error('text.nul');
    return value.isWellFormed() ? value : helpers.error('text.surrogate');
  });
  if (limits.min === undefined) schema = schema.allow('');
  else schema = schema.min(limits.min);
  if (limits.max !== undefined) schema = schema.max(limits.max);
  return schema;
}

/** The text form of a UUID. */
export function id(): Joi.StringSchema {
  return joi
    .string()
    .custom((value: string, helpers) => (isUuid(value) ? value : helpers.error('id.uuid')))
    .meta({ jsonSchema: { format: 'uuid', pattern: UUID_PATTERN } });
}

/** The text forms of several UUIDs, all different. */
export function idList(max: number): Joi.ArraySchema {
  return (
    joi
      .array()
      .items(id())
      .max(max)
      // Items that are not strings have a fault already.
      .unique((a: unknown, b: unknown) => String(a).toLowerCase() === String(b).toLowerCase())
      .meta({ jsonSchema: { uniqueItems: true } })
  );
}

/** Some values of one kind, all different. */
export function someOf(item: Joi.Schema, max: number): Joi.ArraySchema {
  return joi
    .array()
    .items(item)
    .min(1)
    .max(max)
    .unique()
    .meta({ jsonSchema: { uniqueItems: true } });
}

const NO_HTTP_URI = '{{#label}} must be an http or https URI (RFC 3986)';

/** An http or https URI. */
export function url(max: number): Joi.StringSchema {
  return (
    text({ min: 1, max })
      .uri({ scheme: /[hH][tT][tT][pP][sS]?/ })
      // Joi requires neither a host nor that a percent sign encodes something.
      .pattern(/^\w+:\/\/[^/?#](?:[^%]|%[0-9a-f]{2})*$/i)
      .messages({ 'string.uriCustomScheme': NO_HTTP_URI, 'string.pattern.base': NO_HTTP_URI })
      .meta({ jsonSchema: { format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://[^/?#]' } })
  );
}

/** A URI of a response. */
export function uri(): Joi.StringSchema {
  return text().meta({ jsonSchema: { format: 'uri' } });
}

export function oneOf(values: readonly string[]): Joi.StringSchema {
  return joi.string().valid(...values);
}

export function integer(min?: number, max?: number): Joi.NumberSchema {
  let schema = joi.number().integer();
  if (min !== undefined) schema = schema.min(min);
  if (max !== undefined) schema = schema.max(max);
  return schema.messages({ 'number.base': '{{#label}} must be an integer' });
}

/**
 * A date-time in a request, converted to a Date.
 *
 * @param limits.hoursAhead how far it may lie in the future
 */
export function timestamp({ hoursAhead = Infinity } = {}): Joi.DateSchema {
  const schema = joi
    .string()
    .custom((value: string, helpers) => {
      const moment = parseTimestamp(value);
      if (!moment) return helpers.error('timestamp.rfc3339');
      const isAhead = moment.getTime() > Date.now() + hoursAhead * HOUR_MS;
      return isAhead ? helpers.error('timestamp.ahead', { hours: hoursAhead }) : moment;
    })
    .meta({ jsonSchema: { format: 'date-time', pattern: RFC3339.source } });
  // The custom rule turns the string into a Date, which Joi's type does not follow.
  return schema as unknown as Joi.DateSchema;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Whether a value is a calendar day (`YYYY-MM-DD`). */
export function isDay(value: unknown): value is string {
  return typeof value === 'string' && DAY.test(value) && isCalendarDay(value);
}

/** A calendar day (`YYYY-MM-DD`). */
export function day(): Joi.StringSchema {
  return joi
    .string()
    .custom((value: string, helpers) => (isDay(value) ? value : helpers.error('day.calendar')))
    .meta({ jsonSchema: { format: 'date', pattern: DAY.source } });
}

/** The name of an IANA time zone, converted to its usual spelling. */
export function timezone(): Joi.StringSchema {
  return text({ min: 1, max: 64 })
    .custom((value: string, helpers) => timezoneName(value) ?? helpers.error('timezone.iana'))
    .example('Europe/Paris');
}

/** A language tag, converted to its canonical form. */
export function language(): Joi.StringSchema {
  return text({ min: 1, max: 64 })
    .custom((value: string, helpers) => languageTag(value) ?? helpers.error('language.bcp47'))
    .example('fr');
}

/** A time of day, `HH:MM`. */
export function timeOfDay(): Joi.StringSchema {
  return joi
    .string()
    .pattern(/^([01]\d|2[0-3]):[0-5]\d$/)
    .messages({ 'string.pattern.base': MESSAGES['string.timeOfDay'] })
    .example('07:00');
}

/** A date-time in a response. */
export function instant(): Joi.DateSchema {
  return Joi.date().meta({ jsonSchema: { format: 'date-time' } });
}

/** The same schema, or null. */
export function nullable<S extends Joi.Schema>(schema: S): S {
  // Joi types `allow` of every schema as returning its own kind, but not generically.
  return schema.allow(null) as S;
}

/** The end of a range: not before the field that starts it. */
export function notBefore<S extends Joi.Schema>(start: string, schema: S): S {
  const ordered = schema.custom((end: string | Date, helpers) => {
    // The parent object, whose earlier fields are validated.
    const [{ [start]: begin }] = helpers.state.ancestors as [
      Record<string, string | Date | undefined>,
    ];
    // Anything else has a fault already.
    const isKnown = typeof begin === typeof end && (begin instanceof Date || isDay(begin));
    return isKnown && begin > end ? helpers.error('range.order', { start }) : end;
  });
  return ordered as S; // As in `nullable`.
}

/** An object schema with more or other keys; the caller gives its type. */
export function withKeys<T>(
  schema: Joi.ObjectSchema,
  keys: Readonly<Record<string, Joi.Schema | undefined>>,
): Joi.ObjectSchema<T> {
  const given = Object.entries(keys).filter(([, key]) => key !== undefined);
  // Joi's types do not allow new keys.
  return schema.keys(Object.fromEntries(given)) as Joi.ObjectSchema<T>;
}

/** An object schema without a key; the caller gives its type. */
export function withoutKey<T>(schema: Joi.ObjectSchema, key: string): Joi.ObjectSchema<T> {
  const keys = [...descriptionOf(schema).keys].filter(([name]) => name !== key);
  return withKeys<T>(Joi.object(), Object.fromEntries(keys));
}

/** Accepts any value, which another schema validates later; documents show that schema. */
export function checkedLater(schema: Joi.Schema): Joi.Schema {
  return Joi.any().meta({ shownAs: schema });
}

const fixedBySchema = new WeakMap<Joi.Schema, ReadonlyMap<string, string>>();

/** The schema of a PATCH, with the reasons why some fields cannot be changed. */
export function withFixed<S extends Joi.Schema>(schema: S, fixed: ReadonlyMap<string, string>): S {
  fixedBySchema.set(schema, fixed);
  return schema;
}

/** Why a schema refuses a field, to complete a sentence that begins with its name. */
export function whyNot(schema: Joi.ObjectSchema, field: string): string {
  const reason = fixedBySchema.get(schema)?.get(field);
  return reason === undefined ? 'is not allowed' : `cannot be changed: ${reason}`;
}

/** The Success body (docs/specification.md, 2.13). */
export const success = named('Success', Joi.object({ success: Joi.boolean().required() }));

/** Names a schema, so that documents describe it once. */
export function named<S extends Joi.Schema>(name: string, schema: S): S {
  // Joi types `meta` of every schema as returning its own kind, but not generically.
  return schema.meta({ schemaName: name }) as S;
}

/** The name of a schema; the last one if it extends a named schema. */
export function nameOf({ metas }: Pick<Description, 'metas'>): string | undefined {
  return metas.findLast(({ schemaName }) => schemaName !== undefined)?.schemaName;
}
