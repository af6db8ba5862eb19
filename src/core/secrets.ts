import { createHash } from 'node:crypto';

/** The SHA-256 of a secret, to be stored in its place. Only for long random secrets. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
