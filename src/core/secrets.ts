import { createHash } from 'node:crypto';

/** What is stored of a secret that opens something: SHA-256, since nobody can guess a long one. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
