import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

export const AUDIENCE = 'https://api.plants.example';

/** Claims of a token, right or wrong. */
export type Claims = Readonly<Record<string, unknown>>;

/** An issuer of JWTs as Keycloak is one: discovery, keys, and tokens of people. */
export class TokenIssuer {
  /** How often the keys were asked for. */
  asked = 0;
  /** Whether it answers with errors. */
  isBroken = false;
  readonly #keys = new Map<string, PrivateKey>();
  #published: JWK[] = [];
  #server: Server | undefined;
  #port = 0;

  static async start(): Promise<TokenIssuer> {
    const issuer = new TokenIssuer();
    await issuer.rotate('first');
    await issuer.open();
    return issuer;
  }

  get name(): string {
    return `http://127.0.0.1:${this.#port}/realms/plants`;
  }

  get published(): readonly JWK[] {
    return this.#published;
  }

  get env(): NodeJS.ProcessEnv {
    return { OIDC_ISSUER: this.name, OIDC_AUDIENCE: AUDIENCE };
  }

  /** Signs by another key, and publishes no other. */
  async rotate(kid: string, alg = 'RS256'): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    this.#keys.set(kid, privateKey);
    this.#published = [{ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }];
  }

  /** A token that is good, but for what is changed. */
  async token(
    claims: Claims,
    { kid = this.#published[0]?.kid ?? '', alg = this.#published[0]?.alg ?? '', key = '' } = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const whole = { iss: this.name, aud: AUDIENCE, iat: now, exp: now + 3600, ...claims };
    const secret = key === '' ? this.#keys.get(kid) : Buffer.from(key);
    if (!secret) throw new Error(`There is no key ${kid}.`);
    return new SignJWT(whole).setProtectedHeader({ alg, kid }).sign(secret);
  }

  /** Takes requests again, at the same address as before. */
  async open(): Promise<void> {
    const server = createServer((request, response) => {
      const isKeys = request.url === '/realms/plants/keys';
      if (isKeys) this.asked += 1;
      const discovery = { issuer: this.name, jwks_uri: `${this.name}/keys` };
      response.statusCode = this.isBroken ? 502 : 200;
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(isKeys ? { keys: this.#published } : discovery));
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port; // It listens on a port.
  }

  /** Goes away, as in an outage. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    this.#server?.closeAllConnections();
    await closed;
  }
}
