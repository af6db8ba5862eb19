declare module 'http_ece' {
  import type { ECDH } from 'node:crypto';

  /** @param keys `dh` and `authSecret` in base64url */
  export function encrypt(
    body: Buffer,
    keys: { version: 'aes128gcm'; privateKey: ECDH; dh: string; authSecret: string },
  ): Buffer;
}
