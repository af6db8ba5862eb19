import { randomUUID } from 'node:crypto';

import { accountsPlugin, userOf } from '../support/program';
import type { TestService, TestUser } from './service';

/** A backend, as `token create --backend` makes it. */
export async function backendOf(
  service: TestService,
  name: string,
  expiresInSeconds = 3600,
): Promise<TestUser> {
  const id = `~${name}`;
  const accounts = service.app.exportsOf(accountsPlugin);
  const { token } = await accounts.tokens.createToken({
    userId: id,
    scopes: ['accounts:manage'],
    name,
    expiresInSeconds,
  });
  return userOf(service.url, id, token);
}

/** An id that no account has. */
export function newId(): string {
  return `u-${randomUUID()}`;
}
