import { randomUUID } from 'node:crypto';

import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

/** A key with which a client authenticates (RFC 7523). */
export class ClientKey {
  readonly published: JWK;
  readonly #key: PrivateKey;

  private constructor(key: PrivateKey, published: JWK) {
    this.#key = key;
    this.published = published;
  }

  static async make(): Promise<ClientKey> {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    return new ClientKey(privateKey, { ...(await exportJWK(publicKey)), alg: 'ES256' });
  }

  /** The form fields that authenticate a client at an issuer, valid except for the given claims. */
  async assert(clientId: string, issuer: string, claims: object = {}) {
    const exp = Math.floor(Date.now() / 1000) + 60;
    const all = { iss: clientId, sub: clientId, aud: issuer, exp, jti: randomUUID(), ...claims };
    return {
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await new SignJWT(all).setProtectedHeader({ alg: 'ES256' }).sign(this.#key),
    };
  }
}
