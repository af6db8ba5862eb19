import { createHmac, randomBytes } from 'node:crypto';

import type { Delivery } from './model';

/** The key follows in base64. */
const SECRET_PREFIX = 'whsec_';

/** A new secret, as Standard Webhooks write it. */
export function newSigningSecret(): string {
  return SECRET_PREFIX + randomBytes(32).toString('base64');
}

/** The headers of an attempt now, signed with each of the secrets according to Standard Webhooks. */
export function signedHeaders(
  secrets: readonly string[],
  id: string,
  body: string,
): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    const signed = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`);
    return `v1,${signed.digest('base64')}`;
  });
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

/** The body of an event of an account. */
export function eventBody(
  { type, createdAt, userId }: Pick<Delivery, 'type' | 'createdAt' | 'userId'>,
  data: object,
): string {
  return JSON.stringify({ type, timestamp: createdAt, data: { userId, ...data } });
}
