import Joi from 'joi';
import type { Context, Middleware } from 'koa';

import { invalidJson } from '../core/errors';
import { ACCOUNT_ID } from '../core/identity';
import { isUuid } from '../core/ids';
import { prototypeKeyIn } from '../core/json';
import { JSON_VALIDATION } from '../core/validation';
import { isRecord } from '../core/values';
import { descriptionOf, maxItemsOf } from '../fields/description';
import { whyNot } from '../fields/joi';
import type { Operation } from '../plugins/operation';
import type { CallInput, ListPart } from '../plugins/protocol-endpoint';
import { queryReader } from './query';
import { ValidationErrors } from './validation-errors';

/** The input of a call after its operation's schemas let it through. */
export interface ValidInput {
  /** Text forms of UUIDs, in lower case; the ids of accounts. */
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
  part?: ListPart | undefined;
}

/** Checks what the request sent, or what a tool was given, against the operation's schemas. */
export function validate(operation: Operation): Middleware {
  const readQuery = queryReader(operation);
  const sentBy = (ctx: Context & { params?: CallInput['params'] }): CallInput => ({
    params: ctx.params ?? {},
    ...readQuery(ctx),
    body: ctx.request.body,
  });
  return async function validate(ctx, next) {
    ctx.state.input = validateInput(operation, ctx.state.given ?? sentBy(ctx));
    await next();
  };
}

/**
 * Query and body first, path ids last: an id of the wrong form is answered exactly as one that
 * does not exist, which is found out after validation.
 *
 * @throws ApiError validation_error with every fault of query and body, invalid_json or what a
 *   malformed path id means
 */
function validateInput(operation: Operation, input: CallInput): ValidInput {
  const errors = new ValidationErrors();
  for (const { field, what } of input.faults ?? []) errors.add(field, what);
  const query = checked(operation.query ?? NOTHING, input.query ?? {}, errors);
  let body: unknown;
  if (operation.body) body = checked(operation.body, requireObject(input.body), errors);
  else if (input.body !== undefined) checked(NOTHING, requireObject(input.body), errors);
  errors.throwIfAny();
  const params: Record<string, string> = {};
  for (const [name, error] of Object.entries(operation.params ?? {})) {
    const id = input.params[name] ?? '';
    const isAccount = name === operation.account;
    if (isAccount ? !ACCOUNT_ID.test(id) : !isUuid(id)) throw error.error();
    params[name] = isAccount ? id : id.toLowerCase();
  }
  return { params, query, body, part: input.part };
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
function checked(schema: Joi.ObjectSchema, given: object, errors: ValidationErrors): unknown {
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
  // What a endpoint sends as text it converts itself.
  const result = schema.validate(known, { ...JSON_VALIDATION, abortEarly: false });
  for (const fault of result.error?.details ?? []) errors.addJoi(fault);
  for (const name of unknown) errors.add(name, whyNot(schema, name));
  return result.value as unknown;
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
