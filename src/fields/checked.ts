import type Joi from 'joi';

import { prototypeKeyIn, JSON_VALIDATION } from '../core/text/json';
import { descriptionOf, maxItemsOf } from './description';
import { whyNot } from './joi';
import type { ValidationErrors } from './validation-errors';

/**
 * Validates an object, adds its faults to `errors`, and returns the validated value. Unknown fields
 * and long lists are found here, since Joi would check each of their thousands of names and items;
 * and so are keys that would change prototypes, since Joi copies objects.
 *
 * @param options.convert whether numbers and booleans are sent as text
 */
export function checked(
  schema: Joi.ObjectSchema,
  given: object,
  errors: ValidationErrors,
  { convert = false } = {},
): unknown {
  const limits = itemLimitsOf(schema);
  const known: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const limit = limits.get(name);
    if (limit === undefined) {
      unknown.push(name);
      continue;
    }
    const prototypeKey = prototypeKeyIn(value);
    if (prototypeKey !== undefined) errors.add(`${name}.${prototypeKey}`, 'is not allowed');
    if (Array.isArray(value) && value.length > limit) {
      errors.add(name, `must contain at most ${limit} items`);
      known[name] = value.slice(0, limit);
    } else {
      known[name] = value;
    }
  }
  const result = schema.validate(known, { ...JSON_VALIDATION, convert, abortEarly: false });
  for (const fault of result.error?.details ?? []) errors.addJoi(fault);
  for (const name of unknown) errors.add(name, whyNot(schema, name));
  return result.value as unknown;
}

const limitsBySchema = new WeakMap<Joi.Schema, ReadonlyMap<string, number>>();

/** The fields of an object, each with its maximum number of items. */
function itemLimitsOf(schema: Joi.ObjectSchema): ReadonlyMap<string, number> {
  const cached = limitsBySchema.get(schema);
  if (cached) return cached;
  const limits = new Map(
    [...descriptionOf(schema).keys].map(([name, key]) => [name, maxItemsOf(key)]),
  );
  limitsBySchema.set(schema, limits);
  return limits;
}
