declare module 'http_ece' {
  import type { ECDH } from 'node:crypto';

  interface Keys {
    version: 'aes128gcm';
    privateKey: ECDH;
    /** In base64url, as `dh`. */
    authSecret: string;
  }

  export function encrypt(body: Buffer, keys: Keys & { dh: string }): Buffer;
  export function decrypt(body: Buffer, keys: Keys): Buffer;
}
