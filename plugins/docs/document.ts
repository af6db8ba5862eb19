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
  rateLimited,
  serviceUnavailable,
  unauthorized,
  unsupportedMediaType,
  validationError,
} from '../../src/core/errors';
import { hostSettings } from '../../src/core/host-settings';
import { type Json, type JsonObject, jsonSchemaOf } from '../../src/fields/json-schema';
import type { Operation } from '../../src/plugins/operation';
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
  const { access, body, idempotent, path, response, summary, tool } = operation;
  const scope = 'scope' in access ? `Scope: ${access.scope}.` : '';
  return {
    summary,
    description: [('description' in tool && tool.description) || '', scope].join('\n\n').trim(),
    tags: [tagOf(path)],
    ...('name' in tool ? { operationId: tool.name } : {}),
    security: 'public' in access ? [] : [{ token: [] }],
    parameters: [
      ...Object.keys(operation.params ?? {}).map((name) => parameter(name, 'path')),
      ...queryParameters(operation),
      ...(idempotent ? [parameter('Idempotency-Key', 'header')] : []),
    ],
    ...(body
      ? { requestBody: { required: true, content: json(jsonSchemaOf(body, 'input')) } }
      : {}),
    responses: {
      [response.status]: {
        description: response.description,
        content: {
          [response.type ?? 'application/json']: {
            schema: jsonSchemaOf(response.schema, 'output'),
          },
        },
      },
      ...responsesOf(errorsOf(operation)),
    },
  };
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

/** How parameters look that no schema describes. */
const PARAMETERS = {
  path: { type: 'string', format: 'uuid' },
  header: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description: `A name that the caller gives the request. For ${hostSettings.idempotencyKeepHours.fallback / 24} days, where the operator has not set another time, the same request under it has no further effect and gets the first answer again, with the header Idempotent-Replayed`,
  },
} as const;

function parameter(name: string, place: keyof typeof PARAMETERS): JsonObject {
  return { name, in: place, required: place === 'path', schema: { ...PARAMETERS[place] } };
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
  const { access, body, errors = [], feature, idempotent, limit, params = {} } = operation;
  return [
    // Also where nothing is taken: a query parameter that nobody knows is refused.
    validationError,
    ...(body ? BODY_ERRORS : []),
    ...('public' in access ? [] : [unauthorized, invalidToken]),
    ...('scope' in access ? [insufficientScope] : []),
    ...(feature ? [featureNotAvailable] : []),
    ...(typeof limit === 'string' ? [rateLimited] : []),
    ...(idempotent ? [idempotencyConflict, idempotencyMismatch] : []),
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
