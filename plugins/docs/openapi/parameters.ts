import { ACCOUNT_ID } from '../../../src/core/identity';
import { hostSettings } from '../../../src/core/settings/host-settings';
import { MAX_KEY_LENGTH } from '../../../src/core/http/request-limits';
import { type JsonObject, jsonSchemaOf } from '../../../src/fields/json-schema';
import type { Operation } from '../../../src/plugins/operation';
import { isConditional } from '../../../src/plugins/operation-facts';
import type { Components } from './components';

/** The headers of requests that say how an operation is to be done. */
const HEADERS = {
  'If-Match': {
    type: 'string',
    description:
      'The ETag of the record as the caller knows it: where the record is in another state by now, the answer is 412 and nothing is changed',
  },
  'If-None-Match': {
    type: 'string',
    description:
      'The ETag of an answer that the caller has: while it is the same, the answer is 304',
  },
  'Idempotency-Key': {
    type: 'string',
    minLength: 1,
    maxLength: MAX_KEY_LENGTH,
    description: `A name that the caller gives the request. For ${hostSettings.idempotencyKeepHours.fallback / 24} days, where the operator has not set another time, the same request under it has no further effect and gets the first answer again, with the header Idempotent-Replayed`,
  },
} as const;

/** Each header of requests, for the components of the document. */
export function parameterComponents(): JsonObject {
  return Object.fromEntries(
    Object.entries(HEADERS).map(([name, { description, ...schema }]) => [
      name,
      { name, in: 'header', required: false, description, schema },
    ]),
  );
}

/** What an operation takes beside its body. */
export function parametersOf(operation: Operation, components: Components): JsonObject[] {
  return [
    ...Object.keys(operation.params ?? {}).map((name) =>
      pathParameter(
        name,
        name === operation.account
          ? { type: 'string', pattern: ACCOUNT_ID.source }
          : { type: 'string', format: 'uuid' },
      ),
    ),
    ...queryParameters(operation, components),
    ...headersOf(operation).map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

export function pathParameter(name: string, schema: JsonObject): JsonObject {
  return { name, in: 'path', required: true, schema };
}

function headersOf(operation: Operation): (keyof typeof HEADERS)[] {
  return [
    ...(operation.idempotent ? ['Idempotency-Key' as const] : []),
    ...(operation.state ? ['If-Match' as const] : []),
    ...(isConditional(operation) ? ['If-None-Match' as const] : []),
  ];
}

function queryParameters({ query }: Operation, components: Components): JsonObject[] {
  if (!query) return [];
  // What JSON Schema says of an object.
  const { properties = {}, required = [] } = jsonSchemaOf(query, 'input', components) as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}
