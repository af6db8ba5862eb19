import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';

import { CURVE } from '../push-keys';

const RECORD_BYTES = 4096;
const SALT_BYTES = 16;
const AUTH_BYTES = 16;
/** An uncompressed point of P-256. */
const KEY_BYTES = 65;
/** Ends the last record. */
const LAST = Buffer.of(2);

/** The keys of a subscription, in base64url. */
export interface SubscriptionKeys {
  p256dh: string;
  auth: string;
}

/** Encrypts a message for a subscription (RFC 8291), as one record of aes128gcm (RFC 8188). */
export function encrypted(text: string, { p256dh, auth }: SubscriptionKeys): Buffer {
  const own = createECDH(CURVE);
  const ownKey = own.generateKeys();
  const theirKey = Buffer.from(p256dh, 'base64url');
  const context = Buffer.concat([Buffer.from('WebPush: info\0'), theirKey, ownKey]);
  const shared = own.computeSecret(theirKey);
  const secret = derived(shared, Buffer.from(auth, 'base64url'), context, 32);
  const salt = randomBytes(SALT_BYTES);
  const key = derived(secret, salt, 'Content-Encoding: aes128gcm\0', 16);
  const nonce = derived(secret, salt, 'Content-Encoding: nonce\0', 12);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const sizes = Buffer.alloc(5);
  sizes.writeUInt32BE(RECORD_BYTES);
  sizes.writeUInt8(ownKey.length, 4);
  const record = [cipher.update(text, 'utf8'), cipher.update(LAST), cipher.final()];
  return Buffer.concat([salt, sizes, ownKey, ...record, cipher.getAuthTag()]);
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

function derived(key: Buffer, salt: Buffer, info: string | Buffer, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, info, bytes));
}
