import type { CallToolResult } from '@modelcontextprotocol/server';

import {
  type ApiError,
  type ErrorCode,
  featureNotAvailable,
  insufficientScope,
  internalError,
  rateLimited,
  serviceUnavailable,
  validationError,
} from '../../../src/core/errors';
import type { CatalogTool } from './catalog';
import { pathsAsGiven } from './given';
import { MAX_LENGTH, withFirstItems } from './lengths';

/** The result of an operation. */
export function successResult(json: string, tool: CatalogTool): CallToolResult {
  if (tool.result === 'value' && json.length > MAX_LENGTH) return tooLong(json.length, tool);
  const result = JSON.parse(json) as Record<string, unknown>; // Lists come as pages.
  const structuredContent = tool.result === 'written' ? withFirstItems(result) : result;
  const text = tool.result === 'written' ? JSON.stringify(structuredContent) : json;
  return { content: [{ type: 'text', text }], structuredContent };
}

function tooLong(length: number, { operation: { tool } }: CatalogTool): CallToolResult {
  const message = `The result has ${length} characters; a tool returns at most ${MAX_LENGTH}.`;
  return failure(validationError, message, 'narrow' in tool ? tool.narrow : undefined);
}

/** Why an operation refused a call, in words that let a model correct it. */
export function errorResult(
  error: ApiError,
  tool: CatalogTool,
  args: Readonly<Record<string, unknown>>,
): CallToolResult {
  // A model sees no headers; how long to wait is in the next step.
  const message = error.message === rateLimited.meaning ? 'Too many requests.' : error.message;
  const idFaults = tool.arguments.idFaults(args);
  if (error.details) {
    const asGiven = pathsAsGiven(args);
    const faults = error.details.map(({ field, message: ofField }, index) =>
      (index === 0 ? message : ofField).replace(field, () => asGiven(field)),
    );
    return failure(error.kind, [...idFaults, ...faults].join(' '), nextStep(error, tool));
  }
  const isOfId = Object.values(tool.operation.params ?? {}).includes(error.kind);
  return isOfId && idFaults.length > 0
    ? failure(validationError, idFaults.join(' '), error.kind.remedy)
    : failure(error.kind, message, nextStep(error, tool));
}

/** The result when the arguments are not an object, so that no operation can be called. */
export function invalidArguments(tool: CatalogTool): CallToolResult {
  const error = validationError.error('arguments must be an object.');
  return failure(error.kind, error.message, nextStep(error, tool));
}

/** The error of a stored error response. */
export function storedError(json: string, { operation }: CatalogTool): ApiError {
  const { error, code } = JSON.parse(json) as ApiError['body']; // Stored in the Error shape.
  const kinds = [...Object.values(operation.params ?? {}), ...(operation.errors ?? [])];
  return (kinds.find((kind) => kind.code === code) ?? internalError).error(error);
}

function failure({ code }: ErrorCode, message: string, remedy: string | undefined): CallToolResult {
  // For a tool, null is an argument that was left out; `clear` empties fields.
  const sentence = message.replaceAll(', null]', ']');
  const reason = `${code}: ${sentence}`;
  const room = MAX_LENGTH - (remedy?.length ?? 0) - 1;
  const shown = reason.length > room ? `${reason.slice(0, room - 1)}…` : reason;
  const text = [shown, remedy].filter(Boolean).join(' ');
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
      return 'This token does not allow it; the person has to connect with another token.';
    case featureNotAvailable.code:
      return error.kind.remedy ?? operation.feature?.remedy;
    case serviceUnavailable.code:
    case internalError.code:
      return operation.method === 'POST'
        ? `Check whether it was done before you call ${name} again.`
        : `Wait a few seconds, then call ${name} once more.`;
    default:
      return error.kind.remedy;
  }
}
