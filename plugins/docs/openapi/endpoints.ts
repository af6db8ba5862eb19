import type { ErrorCode } from '../../../src/core/errors';
import type { ResponseHeaderName } from '../../../src/core/http/response-headers';
import { isRecord } from '../../../src/core/values';
import {
  featureNotAvailable,
  gardenNotFound,
  idempotencyConflict,
  idempotencyMismatch,
  insufficientScope,
  internalError,
  invalidJson,
  invalidText,
  invalidToken,
  payloadTooLarge,
  preconditionFailed,
  rateLimited,
  serviceUnavailable,
  unauthorized,
  unsupportedMediaType,
  validationError,
} from '../../../src/core/errors';
import { type JsonObject, type JsonSchema, jsonSchemaOf } from '../../../src/fields/json-schema';
import type { Operation } from '../../../src/plugins/operation';
import {
  hasEtag,
  readsGarden,
  isConditional,
  hasCsv,
  hasDryRun,
  operationIdOf,
  readsBody,
  memberScopes,
  requiredScopes,
} from '../../../src/plugins/operation-facts';
import type { ProtocolEndpoint, ProtocolMethod } from '../../../src/plugins/protocol-endpoint';
import type { Components } from './components';
import { exampleOf } from './examples';
import { parametersOf, pathParameter } from './parameters';
import {
  responseBody,
  BUDGET_HEADERS,
  ERROR_BODY,
  errorResponses,
  headers,
  headersOf,
} from './responses';

/** Errors of any body. */
const BODY_ERRORS = [invalidJson, unsupportedMediaType, payloadTooLarge];
/** A table as text: a line of names, and a row. */
const TEXT = { schema: { type: 'string' }, example: 'name\nFern\n' };
/** The security scheme of a token. */
const TOKEN = [{ token: [] }];
/** Errors on the server's side. */
const OUR_ERRORS = [internalError, serviceUnavailable];

/** The OpenAPI description of an operation; named schemas become components. */
export function describeOperation(operation: Operation, components: Components): JsonObject {
  const { response, summary, tool } = operation;
  const { description = 'description' in tool ? tool.description : '' } = operation;
  const operationId = operationIdOf(operation);
  const scopes = requiredScopes(operation);
  const others = memberScopes(operation).filter((each) => !scopes.includes(each));
  const elsewhere = others.length > 0 ? `; in the garden of another, ${others.join(' and ')}` : '';
  const scope = scopes.length > 0 ? `Scope: ${scopes.join(' and ')}${elsewhere}.` : '';
  const caching = operation.method === 'GET' ? (['Cache-Control', 'Vary'] as const) : [];
  const etag = hasEtag(operation) ? (['ETag'] as const) : [];
  const replayed = operation.idempotent ? (['Idempotent-Replayed'] as const) : [];
  const schema = jsonSchemaOf(response.schema, 'output', components);
  const success = {
    description: response.description,
    headers: headers(...etag, ...caching, ...replayed, ...BUDGET_HEADERS),
    content: {
      ...responseBody(schema, components, 'application/json'),
      ...(hasCsv(operation) ? { 'text/csv': TEXT } : {}),
    },
  };
  return {
    summary,
    description: [description, scope].join('\n\n').trim(),
    ...(operationId === undefined ? {} : { operationId }),
    security: TOKEN,
    parameters: parametersOf(operation, components),
    ...requestBody(bodyOf(operation, operationId, components), components, {
      required: !operation.bodyIsOptional,
      text: operation.large?.text,
    }),
    responses: {
      [response.status]: success,
      ...(operation.method === 'PUT' ? { 201: { ...success, description: 'It was created' } } : {}),
      ...(hasDryRun(operation)
        ? { 200: { ...success, description: 'What the request would do' } }
        : {}),
      ...(isConditional(operation)
        ? {
            304: {
              description: 'The client has the current response',
              headers: headers(...etag, ...caching, ...BUDGET_HEADERS),
            },
          }
        : {}),
      ...errorResponses(errorsOf(operation), (status) => [
        ...headersOf(status),
        ...(status === 404 ? replayed : []),
        ...BUDGET_HEADERS,
      ]),
    },
  };
}

/** The body of an operation is named after it, for the types of generated clients. */
function bodyOf(
  { body }: Operation,
  operationId: string | undefined,
  components: Components,
): JsonSchema | undefined {
  if (!body) return undefined;
  const schema = withoutDefaults(jsonSchemaOf(body, 'input', components));
  return operationId === undefined
    ? schema
    : components.refer(`${operationId[0]?.toUpperCase()}${operationId.slice(1)}Body`, schema);
}

/**
 * The schema with its defaults in descriptions: generated clients require every property that has a
 * `default`.
 */
function withoutDefaults(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  if (!isRecord(properties)) return schema;
  const described = Object.entries(properties).map(([name, property]) => {
    if (!isRecord(property) || !('default' in property)) return [name, property] as const;
    const { default: value, description, ...rest } = property;
    const inWords = `${JSON.stringify(value)} when left out`;
    return [
      name,
      {
        ...rest,
        description: typeof description === 'string' ? `${description}; ${inWords}` : inWords,
      },
    ] as const;
  });
  return { ...schema, properties: Object.fromEntries(described) };
}

function requestBody(
  schema: JsonSchema | undefined,
  components: Components,
  { required = true, text }: { required?: boolean; text?: { type: string } | undefined } = {},
): JsonObject {
  if (!schema) return {};
  const json = { schema, example: exampleOf(schema, components, 'typical') };
  const content = { 'application/json': json, ...(text && { [text.type]: TEXT }) };
  return { requestBody: { required, content } };
}

/** The OpenAPI description of a method of a protocol endpoint. */
export function describeProtocol(
  { path }: ProtocolEndpoint,
  method: ProtocolMethod,
  components: Components,
): JsonObject {
  const { summary, description, operationId, access, errors = [], tokenErrorBody } = method;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const ofTokens = 'public' in access ? [] : [unauthorized];
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    ...(operationId === undefined ? {} : { operationId }),
    security: 'public' in access ? [] : TOKEN,
    parameters: names.map((name) => pathParameter(name, { type: 'string' })),
    ...requestBody(method.body && components.referTitled(method.body), components),
    responses: {
      // Any request may lack the header Host.
      ...errorResponses(
        [validationError, rateLimited, ...ofTokens, ...errors, ...OUR_ERRORS],
        (status) => protocolHeaders(method, status),
        tokenErrorBody && components.referTitled(tokenErrorBody),
      ),
      ...protocolResponses(method, components),
    },
  };
}

/** The schema of a JSON body of a protocol endpoint. Before its handler runs, errors have the Error body. */
function bodySchema({ showError }: ProtocolMethod, status: number, schema: JsonSchema): JsonSchema {
  return status >= 400 && !showError ? { anyOf: [ERROR_BODY, schema] } : schema;
}

/** The headers of a response of a protocol endpoint. */
function protocolHeaders(
  { access, countsFailures = false, responses = {} }: ProtocolMethod,
  status: number,
): readonly ResponseHeaderName[] {
  const isRefusal = status >= 400;
  const spends = 'public' in access ? countsFailures && isRefusal : true;
  return [
    ...headersOf(status),
    ...(spends ? BUDGET_HEADERS : []),
    // A client that may have the current content got it with its tag.
    ...(304 in responses && !isRefusal ? (['ETag', 'Cache-Control', 'Vary'] as const) : []),
  ];
}

function protocolResponses(method: ProtocolMethod, components: Components): JsonObject {
  const { summary, responses = { 200: { description: summary } } } = method;
  return Object.fromEntries(
    Object.entries(responses).map(([status, { description, headers: own = [], content = {} }]) => {
      const bodies = Object.entries(content).map(([type, schema]) =>
        responseBody(
          bodySchema(method, Number(status), components.referTitled(schema)),
          components,
          type,
        ),
      );
      return [
        status,
        {
          description,
          headers: headers(...protocolHeaders(method, Number(status)), ...own),
          ...(bodies.length > 0 ? { content: Object.assign({}, ...bodies) as JsonObject } : {}),
        },
      ];
    }),
  );
}

/** Most errors follow from the operation; it lists only its own. */
function errorsOf(operation: Operation): ErrorCode[] {
  const { errors = [], feature, idempotent, params = {} } = operation;
  return [
    // Also without input: unknown query parameters are refused.
    validationError,
    rateLimited,
    unauthorized,
    invalidToken,
    insufficientScope,
    ...(readsGarden(operation) ? [gardenNotFound] : []),
    ...(readsBody(operation) ? BODY_ERRORS : []),
    ...(operation.large ? [invalidText] : []),
    ...(feature ? [featureNotAvailable] : []),
    ...(idempotent ? [idempotencyConflict, idempotencyMismatch] : []),
    ...(operation.state ? [preconditionFailed] : []),
    ...Object.values(params),
    ...errors,
    ...OUR_ERRORS,
  ];
}
