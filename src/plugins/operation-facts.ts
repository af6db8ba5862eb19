import { descriptionOf } from '../fields/description';
import { success } from '../fields/joi';
import type { Operation } from './operation';
import type { ApiDescription } from './protocol-endpoint';

/** Whether an operation supports If-None-Match. */
export function isConditional(operation: Operation): boolean {
  return operation.method === 'GET' && operation.notConditional === undefined;
}

/** Whether the body of a request is parsed: that of a POST always is. */
export function readsBody({ method, body }: Pick<Operation, 'method' | 'body'>): boolean {
  return body !== undefined || method === 'POST';
}

/** Whether successful responses of an operation have an ETag. */
export function hasEtag(operation: Operation): boolean {
  const { method, response } = operation;
  if (method === 'GET') return isConditional(operation);
  return response.schema !== success && operation.notConditional === undefined;
}

/** The scopes that a token needs. */
export function requiredScopes({ access }: Pick<Operation, 'access'>): string[] {
  if (!('scope' in access)) return [];
  return access.and === undefined ? [access.scope] : [access.scope, access.and];
}

/** The scopes that a role needs in the garden of another, and a token for it. */
export function memberScopes(operation: Pick<Operation, 'access' | 'of'>): string[] {
  const { access, of } = operation;
  const own = of === 'member' && 'asMember' in access ? access.asMember : undefined;
  return own === undefined ? requiredScopes(operation) : [own];
}

/** The fields of the response that are shown once. */
export function secretsOf({ secret }: Pick<Operation, 'secret'>): readonly string[] {
  return secret === undefined ? [] : [secret].flat();
}

/** Whether the header Garden matters; a call of the person that any token may make ignores it. */
export function readsGarden({ of, access }: Pick<Operation, 'of' | 'access'>): boolean {
  return of === 'garden' || 'scope' in access;
}

export function hasDryRun(operation: Operation): boolean {
  return takes(operation, 'dryRun');
}

/** Whether the response may be a CSV table, for which the query asks by `format=csv`. */
export function hasCsv(operation: Operation): boolean {
  return takes(operation, 'format');
}

function takes({ query }: Operation, name: string): boolean {
  return query !== undefined && descriptionOf(query).keys.has(name);
}

/** The name of an operation in generated clients, such as `listRecords`. */
export function operationIdOf({ operationId, tool }: Operation): string | undefined {
  if (operationId !== undefined || !('name' in tool)) return operationId;
  return tool.name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The name of an operation in messages and logs: `GET /api/records`. */
export function operationName(operation: { method: string; path: string }): string {
  return `${operation.method} ${operation.path}`;
}

/** The scopes that at least one tool needs. */
export function toolScopes({ scopes, operations }: ApiDescription): string[] {
  const used = new Set(
    operations.flatMap((operation) => ('name' in operation.tool ? requiredScopes(operation) : [])),
  );
  return [...scopes.keys()].filter((scope) => used.has(scope));
}
