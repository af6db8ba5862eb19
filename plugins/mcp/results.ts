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
} from '../../src/core/errors';
import { jsonArray, MAX_ANSWER_BYTES } from '../../src/core/json-array';
import type { Tool } from './tools';

/** What a tool call came to: the JSON of a structured result, or what is wrong and can be done. */
export type ToolAnswer = { structured: string } | { problem: string };

/** The answer of an operation in the shape of its tool's output schema: arrays as `{ items }`. */
export function success(json: string, tool: Tool): ToolAnswer {
  if (Buffer.byteLength(json) > MAX_ANSWER_BYTES) return tooLarge(tool);
  return { structured: json.startsWith('[') ? `{"items":${json}}` : json };
}

/** The same of items that come one after the other; no more of them is read than can be answered. */
export async function successOf(items: AsyncIterable<unknown>, tool: Tool): Promise<ToolAnswer> {
  let json = '';
  for await (const piece of jsonArray(items)) {
    json += piece;
    if (json.length > MAX_ANSWER_BYTES) return tooLarge(tool);
  }
  return success(json, tool);
}

/** An answer is written twice into a result, and no model reads one of this size. */
function tooLarge({ operation: { tool } }: Tool): ToolAnswer {
  const remedy = 'tooLarge' in tool ? tool.tooLarge : undefined;
  return problem(
    payloadTooLarge,
    'The answer is larger than 1 MB.',
    remedy ?? 'Ask for less, or for single records by their ids.',
  );
}

/** Why an operation refused a call, in words that let a model mend it. */
export function refusal(
  error: ApiError,
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
): ToolAnswer {
  // A model sees no headers; how long to wait is told below.
  const message = error.kind.code === rateLimited.code ? 'Too many requests.' : error.message;
  const idFault = tool.arguments.idFault(error.kind, given);
  return idFault === undefined
    ? problem(error.kind, message, nextStep(error, tool))
    : problem(validationError, idFault, error.kind.remedy);
}

/** Why there was not even an operation to call. */
export function badArguments(tool: Tool): ToolAnswer {
  const error = validationError.error('arguments must be an object.');
  return problem(error.kind, error.message, nextStep(error, tool));
}

function problem({ code }: ErrorCode, message: string, remedy: string | undefined): ToolAnswer {
  return { problem: [`${code}: ${message}`, remedy].filter(Boolean).join(' ') };
}

/** The refusal that was kept under an Idempotency-Key, as when it was made. */
export function keptError(json: string, { operation }: Tool): ApiError {
  const { error, code } = JSON.parse(json) as ApiError['body']; // Refusals are kept in the Error shape.
  const kinds = [...Object.values(operation.params ?? {}), ...(operation.errors ?? [])];
  return (kinds.find((kind) => kind.code === code) ?? internalError).error(error);
}

function nextStep(error: ApiError, { listing: { name }, operation }: Tool): string | undefined {
  switch (error.kind.code) {
    case validationError.code:
      return `Correct this and call ${name} again.`;
    case rateLimited.code:
      return `Wait ${error.headers['Retry-After'] ?? 'a few'} seconds, then call ${name} again.`;
    case insufficientScope.code:
      return 'No call with this token can do it; the person has to connect with another token.';
    case featureNotAvailable.code:
      return operation.feature?.remedy;
    case serviceUnavailable.code:
    case internalError.code:
      return operation.method === 'POST'
        ? `Look whether it was done all the same before you call ${name} again.`
        : `Wait a few seconds, then call ${name} once more.`;
    default:
      return error.kind.remedy;
  }
}
