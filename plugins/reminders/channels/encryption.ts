import { createECDH } from 'node:crypto';

import { encrypt } from 'http_ece';

import { CURVE } from '../push-keys';

const AUTH_BYTES = 16;
/** An uncompressed point of P-256. */
const KEY_BYTES = 65;

/** The keys of a subscription, in base64url. */
export interface SubscriptionKeys {
  p256dh: string;
  auth: string;
}

/** Encrypts a message for a subscription (RFC 8291). */
export function encrypted(text: string, { p256dh, auth }: SubscriptionKeys): Buffer {
  const privateKey = createECDH(CURVE);
  privateKey.generateKeys();
  const keys = { version: 'aes128gcm', privateKey, dh: p256dh, authSecret: auth } as const;
  return encrypt(Buffer.from(text), keys);
}

/** Which key of a subscription is not valid, if any. */
export function keyFault({ p256dh, auth }: SubscriptionKeys): keyof SubscriptionKeys | undefined {
  if (bytesIn(auth)?.length !== AUTH_BYTES) return 'auth';
  const point = bytesIn(p256dh);
  if (point?.length !== KEY_BYTES) return 'p256dh';
  const own = createECDH(CURVE);
  own.generateKeys();
  try {
    // Fails unless it is on the curve.
    own.computeSecret(point);
    return undefined;
  } catch {
    return 'p256dh';
  }
}

function bytesIn(text: string): Buffer | undefined {
  return /^[\w-]+=*$/.test(text) ? Buffer.from(text, 'base64url') : undefined;
}
