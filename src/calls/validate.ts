import Joi from 'joi';

import { invalidJson } from '../core/errors';
import { isUuid } from '../core/ids';
import { prototypeKeyIn } from '../core/json';
import { JSON_VALIDATION } from '../core/validation';
import { isAsyncIterable, isRecord } from '../core/values';
import { descriptionOf, maxItemsOf } from '../fields/description';
import { whyNot } from '../fields/joi';
import type { Operation } from '../plugins/operation';
import { operationName } from '../plugins/operation-facts';
import type { CallInput, ListPart } from '../plugins/transport';
import { Faults } from './faults';

/** The input of a call after its operation's schemas let it through. */
export interface ValidInput {
  /** Text forms of UUIDs, in lower case. */
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
  part?: ListPart | undefined;
}

/**
 * Query and body first, path ids last: an id of the wrong form is answered exactly as one that
 * does not exist, which is found out after validation.
 *
 * @throws ApiError validation_error with every fault of query and body, invalid_json or what a
 *   malformed path id means
 */
export function validateInput(operation: Operation, input: CallInput): ValidInput {
  const faults = new Faults();
  for (const { field, what } of input.faults ?? []) faults.add(field, what);
  const query = validate(operation.query ?? NOTHING, input.query ?? {}, faults);
  let body: unknown;
  if (operation.body) body = validate(operation.body, requireObject(input.body), faults);
  else if (input.body !== undefined) validate(NOTHING, requireObject(input.body), faults);
  faults.throwIfAny();
  const params: Record<string, string> = {};
  for (const [name, error] of Object.entries(operation.params ?? {})) {
    const id = input.params[name] ?? '';
    if (!isUuid(id)) throw error.error();
    params[name] = id.toLowerCase();
  }
  return { params, query, body, part: input.part };
}

/**
 * What an operation answered, once it was checked; batches are checked as they come.
 *
 * @throws Error where it is not as the operation's response schema says
 */
export function checkedResponse(operation: Operation, value: unknown): unknown {
  if (isAsyncIterable(value)) return checkedBatches(operation, value);
  checkResponse(operation, value);
  return value;
}

async function* checkedBatches(
  operation: Operation,
  batches: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<readonly unknown[]> {
  for await (const batch of batches) {
    checkResponse(operation, batch);
    yield batch;
  }
}

function checkResponse(operation: Operation, value: unknown): void {
  const { error } = operation.response.schema.validate(value, { convert: false });
  if (error) {
    throw new Error(`${operationName(operation)} breaks its response schema: ${error.message}`);
  }
}

const NOTHING = Joi.object({});

function requireObject(body: unknown): object {
  if (!isRecord(body)) throw invalidJson.error('The request body must be a JSON object.');
  return body;
}

/**
 * Checks the fields of an object. Unknown fields and lists that are too long are found here, since
 * Joi would look at each of their thousands of names and items; so are keys that would touch
 * prototypes, since Joi copies objects.
 */
function validate(schema: Joi.ObjectSchema, given: object, faults: Faults): unknown {
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
    if (prototypeKey !== undefined) faults.add(`${name}.${prototypeKey}`, 'is not allowed');
    if (Array.isArray(value) && value.length > limit) {
      faults.add(name, `must contain at most ${limit} items`);
      known[name] = value.slice(0, limit);
    } else {
      known[name] = value;
    }
  }
  // What a transport sends as text it converts itself.
  const checked = schema.validate(known, { ...JSON_VALIDATION, abortEarly: false });
  for (const fault of checked.error?.details ?? []) faults.addJoi(fault);
  for (const name of unknown) faults.add(name, whyNot(schema, name));
  return checked.value as unknown;
}

const limitsBySchema = new WeakMap<Joi.Schema, ReadonlyMap<string, number>>();

/** The names that an object may have, each with the number of items that a list there may have. */
function itemLimitsOf(schema: Joi.ObjectSchema): ReadonlyMap<string, number> {
  const cached = limitsBySchema.get(schema);
  if (cached) return cached;
  const limits = new Map(
    [...descriptionOf(schema).keys].map(([name, key]) => [name, maxItemsOf(key)]),
  );
  limitsBySchema.set(schema, limits);
  return limits;
}
