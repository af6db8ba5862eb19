import { descriptionOf } from '../fields/description';
import { success } from '../fields/joi';
import type { Operation } from './operation';
import type { ApiDescription } from './protocol-endpoint';

/** Whether an operation answers what only the holder of the token may see. */
export function isPrivateRead({ access, method }: Operation): boolean {
  return method === 'GET' && !('public' in access);
}

/** Whether answers of an operation depend on who asks, and can be asked for on a condition. */
export function isConditional(operation: Operation): boolean {
  return isPrivateRead(operation) && operation.notConditional === undefined;
}

/** Whether the body of a request is looked at: that of a POST also where none is asked for. */
export function readsBody({ method, body }: Pick<Operation, 'method' | 'body'>): boolean {
  return body !== undefined || method === 'POST';
}

/** Whether good answers of an operation carry an ETag: all but those that show nothing. */
export function hasEtag(operation: Operation): boolean {
  const { method, response } = operation;
  if (method === 'GET') return isConditional(operation);
  return response.schema !== success && operation.notConditional === undefined;
}

/** The scopes that a token must have; none where any will do, or where none is needed. */
export function requiredScopes({ access }: Pick<Operation, 'access'>): string[] {
  if (!('scope' in access)) return [];
  return access.and === undefined ? [access.scope] : [access.scope, access.and];
}

/** Whether an operation can be tried without effect. */
export function hasDryRun({ query }: Operation): boolean {
  return query !== undefined && descriptionOf(query).keys.has('dryRun');
}

/** What generated clients call an operation, such as `listRecords`. */
export function operationIdOf({ operationId, tool }: Operation): string | undefined {
  if (operationId !== undefined || !('name' in tool)) return operationId;
  return tool.name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `GET /api/records`: how messages and logs name an operation. */
export function operationName(operation: { method: string; path: string }): string {
  return `${operation.method} ${operation.path}`;
}

/** Scopes that open a tool: others are of no use to an assistant. */
export function toolScopes({ scopes, operations }: ApiDescription): string[] {
  const used = new Set(
    operations.flatMap((operation) => ('name' in operation.tool ? requiredScopes(operation) : [])),
  );
  return [...scopes.keys()].filter((scope) => used.has(scope));
}
