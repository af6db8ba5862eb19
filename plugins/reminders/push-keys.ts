import { createECDH, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

import Joi from 'joi';

import { Setting } from '../../src/core/settings/settings';
import type { Host } from '../../src/plugins/host';
import { pushKeyModel } from './model';

export const CURVE = 'prime256v1';
const ID = 'web push';

export const privateKeySetting = new Setting<string | undefined>(
  'VAPID_PRIVATE_KEY',
  Joi.string().custom((text: string, helpers) => {
    const custom = '{{#label}} must be a private key of P-256: 32 bytes in base64url';
    return isPrivateKey(text) ? text : helpers.message({ custom });
  }),
  undefined,
  'The key with which push services recognize the server, where several installations share it; otherwise made once, and kept in the database',
  () => '***',
);

/** A pair of keys of VAPID (RFC 8292). */
export interface PushKey {
  /** In base64url. */
  publicKey: string;
  privateKey: KeyObject;
}

/** The key with which push services recognize the program: made once, since subscriptions depend on it. */
export class PushKeys {
  readonly #model;
  readonly #given: string | undefined;
  #known: PushKey | undefined;

  constructor(host: Host) {
    this.#model = host.model(pushKeyModel);
    this.#given = host.settings.of(privateKeySetting);
  }

  async get(): Promise<PushKey> {
    this.#known ??= keyOf(this.#given ?? (await this.#stored()));
    return this.#known;
  }

  async #stored(): Promise<string> {
    const made = generateKeyPairSync('ec', { namedCurve: CURVE });
    const { d: privateKey } = made.privateKey.export({ format: 'jwk' });
    const options = { upsert: true, returnDocument: 'after' } as const;
    const stored = this.#model.findOneAndUpdate(
      { _id: ID },
      { $setOnInsert: { privateKey } },
      options,
    );
    return (await stored.lean().orFail()).privateKey;
  }
}

function keyOf(privateText: string): PushKey {
  const ecdh = createECDH(CURVE);
  ecdh.setPrivateKey(Buffer.from(privateText, 'base64url'));
  const publicBytes = ecdh.getPublicKey();
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    d: privateText,
    x: publicBytes.subarray(1, 33).toString('base64url'),
    y: publicBytes.subarray(33).toString('base64url'),
  };
  return {
    publicKey: publicBytes.toString('base64url'),
    privateKey: createPrivateKey({ key: jwk, format: 'jwk' }),
  };
}

function isPrivateKey(text: string): boolean {
  if (!/^[\w-]{43}=?$/.test(text)) return false;
  try {
    createECDH(CURVE).setPrivateKey(Buffer.from(text, 'base64url'));
    return true;
  } catch {
    return false;
  }
}
