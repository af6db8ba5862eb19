import Joi from 'joi';
import type { Context, Middleware } from 'koa';

import { fieldError, invalidJson } from '../core/errors';
import { ACCOUNT_ID } from '../core/identity';
import { isUuid } from '../core/ids';
import { isRecord } from '../core/values';
import { checked, ValidationErrors } from '../fields/validation';
import { descriptionOf } from '../fields/description';
import { type PageQuery, toolPageQuery } from '../fields/page';
import type { Operation } from '../plugins/operation';
import type { CallInput } from '../plugins/protocol-endpoint';
import { ownerOf, type ValidInput } from './state';

const WHOLE_NUMBER = /^(0|-?[1-9]\d{0,15})$/;

/** Whether a call is a dry run. */
export function isDryRun({ query }: ValidInput): boolean {
  return isRecord(query) && query['dryRun'] === true;
}

/** Validates the input of a request, or of a tool call, by the schemas of the operation. */
export function validate(operation: Operation): Middleware {
  const readQuery = queryReader(operation);
  const sentBy = (ctx: Context & { params?: CallInput['params'] }): CallInput => ({
    params: ctx.params ?? {},
    ...readQuery(ctx),
    body: ctx.request.body,
  });
  return async function validate(ctx, next) {
    ctx.state.input = await validateInput(operation, ctx.state.given ?? sentBy(ctx), ctx);
    await next();
  };
}

/**
 * Validates query and body first, then the ids of the path: the response to a malformed id is that to
 * an unknown one, which is found after validation.
 *
 * @throws ApiError validation_error with every fault of query and body, invalid_json, or the error of
 *   a malformed id
 */
async function validateInput(
  operation: Operation,
  input: CallInput,
  ctx: Context,
): Promise<ValidInput> {
  const { large } = operation;
  const errors = new ValidationErrors(large?.maxDetails);
  for (const { field, what } of input.faults ?? []) errors.add(field, what);
  const query = checked(operation.query ?? NOTHING, input.query ?? {}, errors);
  let body: unknown;
  const sent = operation.bodyIsOptional ? (input.body ?? {}) : input.body;
  if (operation.body) body = checked(operation.body, requireObject(sent), errors);
  else if (input.body !== undefined) checked(NOTHING, requireObject(input.body), errors);
  // The schema of this operation has just validated the body.
  if (large) body = await large.check(body, errors, ownerOf(ctx));
  const page = input.page && {
    ...(checked(toolPageQuery, input.page.query, errors) as PageQuery), // By its schema.
    maxLength: input.page.maxLength,
  };
  errors.throwIfAny();
  const params: Record<string, string> = {};
  for (const [name, error] of Object.entries(operation.params ?? {})) {
    const id = input.params[name] ?? '';
    if (name === operation.owner) params[name] = id;
    else if (name === operation.account) {
      if (!ACCOUNT_ID.test(id)) throw error.error();
      params[name] = id;
    } else {
      if (!isUuid(id)) throw error.error();
      params[name] = id.toLowerCase();
    }
  }
  return { params, query, body, page };
}

const NOTHING = Joi.object({});

function requireObject(body: unknown): object {
  if (!isRecord(body)) throw invalidJson.error('The request body must be a JSON object.');
  return body;
}

/**
 * Returns a function that reads the query of a request for an operation. Query strings are text, so
 * numbers and booleans are converted where the schema has them.
 *
 * @throws ApiError validation_error if a parameter is not UTF-8
 */
function queryReader(
  operation: Operation,
): (ctx: Context) => Required<Pick<CallInput, 'query' | 'faults'>> {
  const keys = operation.query ? [...descriptionOf(operation.query).keys] : [];
  const types = new Map(keys.map(([name, { type }]) => [name, type]));
  const readValue = (name: string, value: string | undefined): unknown => {
    const type = types.get(name);
    if (type === 'number' && value !== undefined && WHOLE_NUMBER.test(value)) return Number(value);
    return type === 'boolean' && /^(true|false)$/.test(value ?? '') ? value === 'true' : value;
  };
  return (ctx) => {
    const entries = Object.entries(queryOf(ctx));
    return {
      query: Object.fromEntries(
        entries.map(([name, value]) => [name, readValue(name, [value].flat()[0])]),
      ),
      faults: entries
        .filter(([, value]) => Array.isArray(value))
        .map(([field]) => ({ field, what: 'must be given only once' })),
    };
  };
}

function queryOf(ctx: Context): Context['query'] {
  for (const parameter of ctx.querystring.split('&')) {
    if (decoded(parameter) !== undefined) continue;
    const name = decoded(parameter.split('=', 1)[0] ?? '') ?? '';
    // Every known name is shorter.
    const field = name.length > 0 && name.length < 100 ? name : 'query';
    throw fieldError(field, `${field} must be percent-encoded UTF-8.`);
  }
  return ctx.query;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
