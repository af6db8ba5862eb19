import type { ErrorCode } from '../../../src/core/errors';
import { type ResponseHeaderName, RESPONSE_HEADERS } from '../../../src/core/http/response-headers';
import type { JsonObject, JsonSchema } from '../../../src/fields/json-schema';
import type { Components } from './components';
import { exampleOf } from './examples';

/** The headers of calls that spend a rate budget. */
export const BUDGET_HEADERS = [
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const satisfies readonly ResponseHeaderName[];

export const ERROR_BODY = { $ref: '#/components/schemas/Error' };

/** The headers of a status, wherever it is sent. */
const BY_STATUS: Readonly<Record<number, readonly ResponseHeaderName[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** The response headers, as components of the document. */
export function headerComponents(): JsonObject {
  return Object.fromEntries(
    Object.entries(RESPONSE_HEADERS).map(([name, { description, example }]) => [
      name,
      {
        description,
        schema: { type: typeof example === 'number' ? 'integer' : 'string' },
        example,
      },
    ]),
  );
}

/** The headers that a status requires. */
export function headersOf(status: number): readonly ResponseHeaderName[] {
  return BY_STATUS[status] ?? [];
}

/** References to the headers of a response; every response has a request id. */
export function headers(...names: readonly ResponseHeaderName[]): JsonObject {
  return Object.fromEntries(
    ['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** The body of a response: its schema, and an example. */
export function responseBody(schema: JsonSchema, components: Components, type: string): JsonObject {
  return { [type]: { schema, example: exampleOf(schema, components, 'all') } };
}

/**
 * Error responses by status.
 *
 * @param headersWith the headers of a response with a status
 * @param ofTokens another body that errors about the token may have
 */
export function errorResponses(
  errors: readonly ErrorCode[],
  headersWith: (status: number) => readonly ResponseHeaderName[],
  ofTokens?: JsonSchema,
): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const error of new Set(errors)) {
    byStatus.set(error.status, [...(byStatus.get(error.status) ?? []), error]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, those]) => [
      status,
      {
        description: sentencesOf(those),
        headers: headers(...headersWith(status)),
        content: {
          'application/json': {
            schema:
              ofTokens && (status === 401 || status === 403)
                ? { anyOf: [ERROR_BODY, ofTokens] }
                : ERROR_BODY,
          },
        },
      },
    ]),
  );
}

/** Error codes and their meanings, one paragraph each. */
export function sentencesOf(errors: readonly ErrorCode[]): string {
  return errors.map(({ code, meaning }) => `\`${code}\`: ${meaning}`).join('\n\n');
}
