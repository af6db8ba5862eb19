import type { Context } from 'koa';

import { fieldError, validationError } from '../../core/errors';
import { descriptionOf } from '../../fields/description';
import type { Operation } from '../../plugins/operation';
import type { CallInput } from '../../plugins/protocol-endpoint';

/** More than any operation takes, and few enough to be looked at one by one. */
const MAX_QUERY_PARAMETERS = 50;

const WHOLE_NUMBER = /^(0|-?[1-9]\d{0,15})$/;

/**
 * Reads the query of requests for an operation. A query string knows only text: where the schema
 * wants a number, digits are one, and where it wants a boolean, its words are.
 *
 * @throws ApiError validation_error, before anything is parsed, where there are too many parameters,
 *   or where what is encoded is no UTF-8, which would be read as something else
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
    // No name of a parameter is longer.
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
