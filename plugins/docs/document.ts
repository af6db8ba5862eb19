import type { ErrorCode } from '../../src/core/errors';
import {
  featureNotAvailable,
  idempotencyConflict,
  idempotencyMismatch,
  insufficientScope,
  internalError,
  invalidJson,
  invalidToken,
  MAX_DETAILS,
  payloadTooLarge,
  preconditionFailed,
  rateLimited,
  serviceUnavailable,
  unauthorized,
  unsupportedMediaType,
  validationError,
} from '../../src/core/errors';
import { hostSettings } from '../../src/core/host-settings';
import { type Json, type JsonObject, jsonSchemaOf } from '../../src/fields/json-schema';
import { hasEtag, isConditional, type Operation } from '../../src/plugins/operation';
import type { ApiDescription, Transport, TransportMethod } from '../../src/plugins/transport';
import { IDENTITY } from '../../src/core/project';
import { CONVENTIONS } from '../../src/core/conventions';

/** What may be wrong with any body. */
const BODY_ERRORS = [invalidJson, unsupportedMediaType, payloadTooLarge];
/** What may go wrong on our side. */
const OUR_ERRORS = [internalError, serviceUnavailable];

/** The OpenAPI 3.1 document of operations, and of other protocols over them. */
export function openApiDocument({ operations, transports, errors }: ApiDescription): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describe(operation);
  }
  for (const transport of transports) {
    const path = (paths[transport.path] ??= {});
    for (const [method, each] of Object.entries(transport.methods)) {
      path[method.toLowerCase()] = describeTransport(transport, each);
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plant care API',
      version: IDENTITY.version,
      description: [
        "Keeps a person's plants, the care they get, their photos and what it all adds up to.",
        ...CONVENTIONS.map(({ topic, rule }) => `**${topic}.** ${rule}`),
      ].join('\n\n'),
    },
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A developer token: tnd_mcp_…' },
      },
      schemas: {
        Error: errorSchema(errors),
      },
    },
  };
}

/** The Error shape (docs/specification.md, 2.13; docs/decisions.md, "Requests"). */
function errorSchema(errors: readonly ErrorCode[]): JsonObject {
  return {
    type: 'object',
    required: ['error', 'code'],
    properties: {
      error: { type: 'string', description: 'One sentence, for people' },
      code: {
        type: 'string',
        enum: errors.map(({ code }) => code),
        description: sentencesOf(errors),
      },
      details: {
        type: 'array',
        minItems: 1,
        maxItems: MAX_DETAILS,
        description: `Of ${validationError.code} only: what is wrong with the body and the query`,
        items: {
          type: 'object',
          required: ['field', 'message'],
          properties: { field: { type: 'string' }, message: { type: 'string' } },
          additionalProperties: false,
        },
      },
    },
    additionalProperties: false,
  };
}

function describe(operation: Operation): JsonObject {
  const { access, body, path, response, summary, tool } = operation;
  const scope = 'scope' in access ? `Scope: ${access.scope}.` : '';
  return {
    summary,
    description: [('description' in tool && tool.description) || '', scope].join('\n\n').trim(),
    tags: [tagOf(path)],
    ...('name' in tool ? { operationId: tool.name } : {}),
    security: 'public' in access ? [] : [{ token: [] }],
    parameters: [
      ...Object.keys(operation.params ?? {}).map(pathParameter),
      ...queryParameters(operation),
      ...headersOf(operation).map(headerParameter),
    ],
    ...(body
      ? { requestBody: { required: true, content: json(jsonSchemaOf(body, 'input')) } }
      : {}),
    responses: {
      [response.status]: {
        description: response.description,
        ...(hasEtag(operation) ? { headers: { ETag: ETAG } } : {}),
        content: {
          [response.type ?? 'application/json']: {
            schema: jsonSchemaOf(response.schema, 'output'),
          },
        },
      },
      ...(isConditional(operation)
        ? { 304: { description: 'The client has this answer', headers: { ETag: ETAG } } }
        : {}),
      ...responsesOf(errorsOf(operation)),
    },
  };
}

const ETAG = {
  description: 'Names what the answer says, for If-None-Match and If-Match',
  schema: { type: 'string' },
};

/** The headers of requests that say how an operation is to be done. */
function headersOf(operation: Operation): (keyof typeof HEADERS)[] {
  return [
    ...(operation.idempotent ? ['Idempotency-Key' as const] : []),
    ...(operation.state ? ['If-Match' as const] : []),
    ...(isConditional(operation) ? ['If-None-Match' as const] : []),
  ];
}

function describeTransport(
  { path }: Transport,
  { summary, description, access, body, responses, errors = [] }: TransportMethod,
): JsonObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const ofTokens = 'public' in access ? [] : [unauthorized, rateLimited];
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tagOf(path)],
    security: 'public' in access ? [] : [{ token: [] }],
    parameters: names.map((name) => ({
      ...{ name, in: 'path', required: true },
      schema: { type: 'string' },
    })),
    ...(body ? { requestBody: { required: true, content: json(body) } } : {}),
    responses: {
      ...responsesOf([...ofTokens, ...errors, ...OUR_ERRORS]),
      ...Object.fromEntries(
        Object.entries(responses ?? { 200: { description: summary } }).map(([status, response]) => [
          status,
          {
            description: response.description,
            ...(response.content ? { content: contentOf(response.content) } : {}),
          },
        ]),
      ),
    },
  };
}

function contentOf(content: Readonly<Record<string, JsonObject>>): JsonObject {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]));
}

function tagOf(path: string): string {
  return path.split('/').find((part) => !['', 'api'].includes(part)) ?? 'api';
}

function json(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}

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
    maxLength: 255,
    description: `A name that the caller gives the request. For ${hostSettings.idempotencyKeepHours.fallback / 24} days, where the operator has not set another time, the same request under it has no further effect and gets the first answer again, with the header Idempotent-Replayed`,
  },
} as const;

function pathParameter(name: string): JsonObject {
  return { name, in: 'path', required: true, schema: { type: 'string', format: 'uuid' } };
}

function headerParameter(name: keyof typeof HEADERS): JsonObject {
  return { name, in: 'header', required: false, schema: { ...HEADERS[name] } };
}

function queryParameters({ query }: Operation): JsonObject[] {
  if (!query) return [];
  // What JSON Schema says of an object.
  const { properties = {}, required = [] } = jsonSchemaOf(query, 'input');
  return Object.entries(properties as JsonObject).map(([name, schema]) => ({
    name,
    in: 'query',
    required: (required as Json[]).includes(name),
    schema,
  }));
}

/** What may go wrong follows from what the operation is; it lists only what is its own. */
function errorsOf(operation: Operation): ErrorCode[] {
  const { access, body, errors = [], feature, idempotent, limit, params = {}, state } = operation;
  return [
    // Also where nothing is taken: a query parameter that nobody knows is refused.
    validationError,
    ...(body ? BODY_ERRORS : []),
    ...('public' in access ? [] : [unauthorized, invalidToken]),
    ...('scope' in access ? [insufficientScope] : []),
    ...(feature ? [featureNotAvailable] : []),
    ...(typeof limit === 'string' ? [rateLimited] : []),
    ...(idempotent ? [idempotencyConflict, idempotencyMismatch] : []),
    ...(state ? [preconditionFailed] : []),
    ...Object.values(params),
    ...errors,
    ...OUR_ERRORS,
  ];
}

function responsesOf(errors: readonly ErrorCode[]): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const error of new Set(errors)) {
    byStatus.set(error.status, [...(byStatus.get(error.status) ?? []), error]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, those]) => [
      status,
      {
        description: sentencesOf(those),
        content: json({ $ref: '#/components/schemas/Error' }),
      },
    ]),
  );
}

function sentencesOf(errors: readonly ErrorCode[]): string {
  return errors.map(({ code, meaning }) => `\`${code}\`: ${meaning}`).join('\n\n');
}
