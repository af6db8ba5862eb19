import type { Context } from 'koa';

import { fieldError, validationError } from '../../core/errors';
import { descriptionOf } from '../../fields/description';
import type { Operation } from '../../plugins/operation';
import type { CallInput } from '../../plugins/protocol-endpoint';

/** More than any operation takes. */
const MAX_QUERY_PARAMETERS = 50;

const WHOLE_NUMBER = /^(0|-?[1-9]\d{0,15})$/;

/**
 * Returns a function that reads the query of a request for an operation. Query strings are text, so
 * numbers and booleans are converted where the schema has them.
 *
 * @throws ApiError validation_error if there are too many parameters, or one is not UTF-8
 */
export function queryReader(
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
  if (ctx.querystring.split('&', MAX_QUERY_PARAMETERS + 1).length > MAX_QUERY_PARAMETERS) {
    throw validationError.error(`The query must have at most ${MAX_QUERY_PARAMETERS} parameters.`);
  }
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
