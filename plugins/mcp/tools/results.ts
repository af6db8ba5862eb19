import type { CallToolResult } from '@modelcontextprotocol/server';

import {
  type ApiError,
  type ErrorCode,
  featureNotAvailable,
  insufficientScope,
  internalError,
  payloadTooLarge,
  rateLimited,
  serviceUnavailable,
  validationError,
} from '../../../src/core/errors';
import { MAX_ANSWER_BYTES } from '../../../src/core/json-array';
import { ownTurn } from '../../../src/core/turns';
import type { CatalogTool } from './catalog';

/** From which length on it takes milliseconds to make a result; in UTF-16 code units. */
const LONG = 64 * 1024;

/** The answer of an operation in the shape of its tool's output schema: arrays as `{ items }`. */
export async function successResult(json: string, tool: CatalogTool): Promise<CallToolResult> {
  if (Buffer.byteLength(json) > MAX_ANSWER_BYTES) return tooLarge(tool);
  if (json.length > LONG) await ownTurn();
  const text = json.startsWith('[') ? `{"items":${json}}` : json;
  // Responses are JSON objects, or arrays of them.
  const structuredContent = JSON.parse(text) as Record<string, unknown>;
  return { content: [{ type: 'text', text }], structuredContent };
}

/** The same of a long answer that comes piece by piece; no more is read than can be answered. */
export async function piecesResult(
  pieces: AsyncIterable<string>,
  tool: CatalogTool,
): Promise<CallToolResult> {
  let json = '';
  for await (const piece of pieces) {
    json += piece;
    if (json.length > MAX_ANSWER_BYTES) return tooLarge(tool);
  }
  return successResult(json, tool);
}

/** An answer is written twice into a result, and no model reads one of this size. */
function tooLarge({ definition, operation: { method, tool } }: CatalogTool): CallToolResult {
  const remedy = 'tooLarge' in tool ? tool.tooLarge : undefined;
  if (method !== 'GET') {
    const done = 'It was done, but the answer is larger than 1 MB.';
    const next = [`Do not call ${definition.name} again.`, remedy].filter(Boolean).join(' ');
    return failure(payloadTooLarge, done, next);
  }
  return failure(
    payloadTooLarge,
    'The answer is larger than 1 MB.',
    remedy ?? 'Ask for less, or for single records by their ids.',
  );
}

/** Why an operation refused a call, in words from which a model can correct it. */
export function errorResult(
  error: ApiError,
  tool: CatalogTool,
  args: Readonly<Record<string, unknown>>,
): CallToolResult {
  // A model sees no headers; how long to wait is in the next step.
  const message = error.message === rateLimited.meaning ? 'Too many requests.' : error.message;
  const idFaults = tool.arguments.idFaults(args);
  if (error.details) {
    const others = error.details.slice(1).map((fault) => fault.message);
    return failure(error.kind, [...idFaults, message, ...others].join(' '), nextStep(error, tool));
  }
  const isOfId = Object.values(tool.operation.params ?? {}).includes(error.kind);
  return isOfId && idFaults.length > 0
    ? failure(validationError, idFaults.join(' '), error.kind.remedy)
    : failure(error.kind, message, nextStep(error, tool));
}

/** Where the arguments are no object, so that the operation cannot be called. */
export function invalidArguments(tool: CatalogTool): CallToolResult {
  const error = validationError.error('arguments must be an object.');
  return failure(error.kind, error.message, nextStep(error, tool));
}

/** The error response that was stored under an Idempotency-Key, as when it was made. */
export function storedError(json: string, { operation }: CatalogTool): ApiError {
  const { error, code } = JSON.parse(json) as ApiError['body']; // Stored in the Error shape.
  const kinds = [...Object.values(operation.params ?? {}), ...(operation.errors ?? [])];
  return (kinds.find((kind) => kind.code === code) ?? internalError).error(error);
}

function failure({ code }: ErrorCode, message: string, remedy: string | undefined): CallToolResult {
  const text = [`${code}: ${message}`, remedy].filter(Boolean).join(' ');
  return { content: [{ type: 'text', text }], isError: true };
}

function nextStep(error: ApiError, { definition, operation }: CatalogTool): string | undefined {
  const { name } = definition;
  switch (error.kind.code) {
    case validationError.code:
      return `Correct this and call ${name} again.`;
    case rateLimited.code:
      return `Wait ${error.headers['Retry-After'] ?? 'a few'} seconds, then call ${name} again.`;
    case insufficientScope.code:
      return 'No call with this token can do it; the person has to connect with another token.';
    case featureNotAvailable.code:
      return error.kind.remedy ?? operation.feature?.remedy;
    case serviceUnavailable.code:
    case internalError.code:
      return operation.method === 'POST'
        ? `Look whether it was done all the same before you call ${name} again.`
        : `Wait a few seconds, then call ${name} once more.`;
    default:
      return error.kind.remedy;
  }
}
