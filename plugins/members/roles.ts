/** What each role may do in a garden, in rising order. */
const SCOPES = {
  viewer: ['plants:read', 'insights:read'],
  carer: ['plants:read', 'insights:read', 'events:write'],
  gardener: ['plants:read', 'insights:read', 'events:write', 'plants:write'],
} as const;

export type Role = keyof typeof SCOPES;

// The keys of a literal are its type's.
export const ROLES = Object.keys(SCOPES) as Role[];

const sets = new Map<Role, ReadonlySet<string>>(ROLES.map((role) => [role, new Set(SCOPES[role])]));

export function scopesOf(role: Role): ReadonlySet<string> {
  return sets.get(role) ?? new Set();
}

/** The least role with a scope. */
export function roleWith(scope: string): Role | undefined {
  return ROLES.find((role) => scopesOf(role).has(scope));
}
