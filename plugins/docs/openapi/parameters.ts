import { ACCOUNT_ID } from '../../../src/core/identity';
import { hostSettings } from '../../../src/core/settings/host-settings';
import { MAX_KEY_LENGTH } from '../../../src/core/http/request-limits';
import { type JsonObject, jsonSchemaOf } from '../../../src/fields/json-schema';
import type { Operation } from '../../../src/plugins/operation';
import { isConditional } from '../../../src/plugins/operation-facts';
import type { Components } from './components';

/** Request headers that change how an operation is done. */
const HEADERS = {
  Garden: {
    type: 'string',
    description:
      'The id of the account whose garden the request is for, percent-encoded beyond ASCII. If it is left out, the garden is that of the token',
  },
  'If-Match': {
    type: 'string',
    description:
      'The ETag of the record that the client has or, of a record with updatedAt, `"u:<updatedAt>"`, which care that is logged does not change. If the record has changed since, the response is 412 and nothing is changed',
  },
  'If-None-Match': {
    type: 'string',
    description:
      'The ETag of the response that the client has. If it is still current, the response is 304',
  },
  'Idempotency-Key': {
    type: 'string',
    minLength: 1,
    maxLength: MAX_KEY_LENGTH,
    description: `A unique name for the request. For ${hostSettings.idempotencyKeepHours.fallback / 24} days, unless the operator sets another time, a repeat with the same key has no further effect and gets the first response again, with the header Idempotent-Replayed`,
  },
} as const;

/** The request headers, as components of the document. */
export function parameterComponents(): JsonObject {
  return Object.fromEntries(
    Object.entries(HEADERS).map(([name, { description, ...schema }]) => [
      name,
      { name, in: 'header', required: false, description, schema },
    ]),
  );
}

export function parametersOf(operation: Operation, components: Components): JsonObject[] {
  return [
    ...Object.keys(operation.params ?? {}).map((name) =>
      pathParameter(
        name,
        name === operation.owner
          ? { type: 'string' }
          : name === operation.account
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
    ...(operation.of !== 'person' ? ['Garden' as const] : []),
    ...(operation.idempotent ? ['Idempotency-Key' as const] : []),
    ...(operation.state ? ['If-Match' as const] : []),
    ...(isConditional(operation) ? ['If-None-Match' as const] : []),
  ];
}

function queryParameters({ query }: Operation, components: Components): JsonObject[] {
  if (!query) return [];
  // The schema of an object has these.
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
