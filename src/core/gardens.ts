import { type ApiError, gardenNotFound, insufficientScope } from './errors';
import type { Binding, Garden, Gardens } from './identity';

/**
 * Binds a token of a person to a garden that is open to them.
 *
 * @returns also the garden, unless it is their own
 * @throws ApiError garden_not_found
 */
export async function bindTo(
  owner: string,
  person: string,
  gardens: Gardens | undefined,
): Promise<{ garden: Binding; shared?: Garden }> {
  if (owner === person) return { garden: { owner } };
  const shared = await gardens?.find(owner, person);
  if (!shared) throw gardenNotFound.error();
  return { garden: { owner, member: shared.by.id }, shared };
}

/**
 * The garden to which a token of a person is bound.
 *
 * @returns undefined if it is their own; null if it is closed to them, or the membership is another
 */
export async function boundGarden(
  { owner, member }: Binding,
  person: string,
  gardens: Gardens | undefined,
): Promise<Garden | null | undefined> {
  if (member === undefined) return undefined;
  const found = await gardens?.find(owner, person);
  return found?.by.id === member ? found : null;
}

/** Whether the role of a person permits what a scope is for; in one's own garden nothing is withheld. */
export function permits(garden: Garden | undefined, scope: string): boolean {
  return garden === undefined || garden.scopes.has(scope);
}

/** @throws ApiError insufficient_scope for the first scope that the role of a person does not permit */
export function requireRole(garden: Garden | undefined, scopes: readonly string[]): void {
  const beyond = scopes.find((scope) => !permits(garden, scope));
  if (garden && beyond !== undefined) throw roleRefused(garden, beyond);
}

/**
 * The error for what a role does not permit.
 *
 * @param scope what the role lacks; nothing that a role can have if left out
 */
export function roleRefused({ role, roleWith }: Garden, scope?: string): ApiError {
  const needed = scope === undefined ? undefined : roleWith(scope);
  return insufficientScope.error(
    needed === undefined
      ? 'In this garden only its owner may do that.'
      : `In this garden that needs the role ${needed}; yours is ${role}.`,
  );
}
