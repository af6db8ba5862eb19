import Joi from 'joi';
import { Schema } from 'mongoose';

import type { DatedMoment } from '../core/time';
import { idText, IdType, type StoredId, toStoredId } from '../core/ids';
import { Field } from './field';
import * as joi from './joi';

const DATED_MOMENT = new Schema(
  { at: { type: Date, required: true }, on: { type: String, required: true } },
  { _id: false },
);

function field<Value, Stored = Value>(type: Field<Value>['facts']['type']): Field<Value, Stored> {
  return new Field({ type, presence: 'required', mode: 'readWrite' });
}

/** A string, stored as sent; lengths are in UTF-16 code units. */
export function text(limits: { min?: number; max?: number } = {}): Field<string> {
  return field({ input: joi.text(limits), output: joi.text(), path: String });
}

/** An http or https URI (RFC 3986). */
export function url(max: number): Field<string> {
  return field({ input: joi.url(max), output: joi.uri(), path: String });
}

/** A whole number, both bounds included. */
export function integer(min?: number, max?: number): Field<number> {
  return field({ input: joi.integer(min, max), output: joi.integer(), path: Number });
}

/** A double greater than zero. */
export function positiveNumber(): Field<number> {
  const number = Joi.number().unsafe();
  return field({ input: number.greater(0), output: number, path: Number });
}

export function boolean(): Field<boolean> {
  return field({ input: Joi.boolean(), output: Joi.boolean(), path: Boolean });
}

export function oneOf<const Values extends readonly string[]>(
  values: Values,
): Field<Values[number]> {
  return field({ input: joi.oneOf(values), output: joi.oneOf(values), path: String });
}

/** At least one of the given strings, without repeats. */
export function someOf<const Values extends readonly string[]>(
  values: Values,
): Field<Values[number][]> {
  const list = joi.someOf(joi.oneOf(values), values.length);
  return field({ input: list, output: list, path: [String] });
}

/** An instant: an RFC 3339 date-time with an offset, stored to the millisecond. */
export function timestamp(limits: { hoursAhead?: number } = {}): Field<Date> {
  return field({ input: joi.timestamp(limits), output: joi.instant(), path: Date });
}

/** A moment with its calendar day. */
export function datedMoment(): Field<DatedMoment> {
  const moment = Joi.object({ at: joi.instant().required(), on: joi.day().required() });
  return field({ input: moment, output: moment, path: DATED_MOMENT });
}

/** A calendar day (`YYYY-MM-DD`). */
export function day(): Field<string> {
  return field({ input: joi.day(), output: joi.day(), path: String });
}

/** The id of a record. */
export function uuid(): Field<string, StoredId> {
  return field({
    input: joi.id(),
    output: joi.id(),
    path: IdType,
    toStored: (value) => toStoredId(String(value)),
    // Only what `toStored` made is stored under such a path.
    toValue: (stored) => idText(stored as StoredId),
  });
}

/** The ids of several records, without repeats, in order. */
export function uuidList(max: number): Field<string[]> {
  return field({ input: joi.idList(max), output: joi.idList(max), path: [IdType] });
}

/** A list of JSON values, in order. */
export function list<Item>(items: Joi.ArraySchema, path: unknown): Field<Item[]> {
  return field({ input: items, output: items, path: [path] });
}

/** The fields of every record of an account. */
export const identified = { id: uuid().readOnly(), userId: text().readOnly().example('ada') };

/** When a record was created and last changed. */
export const timestamps = {
  createdAt: timestamp().readOnly(),
  updatedAt: timestamp().readOnly(),
};
