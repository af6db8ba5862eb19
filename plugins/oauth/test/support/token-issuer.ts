import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

export const AUDIENCE = 'https://api.plants.example';
/** The settings of the client for /settings. */
export const CLIENT = { OIDC_CLIENT_ID: 'plants', OIDC_CLIENT_SECRET: 'a secret of ours' };

/** Claims of a token, valid or not. */
export type Claims = Readonly<Record<string, unknown>>;

/** An issuer like Keycloak: discovery, keys and tokens. */
export class TokenIssuer {
  /** How often the keys were fetched. */
  asked = 0;
  /** Whether it responds with errors. */
  isBroken = false;
  /** What it adds to its keys. */
  padding = '';
  readonly #keys = new Map<string, PrivateKey>();
  readonly #codes = new Map<string, { asked: URLSearchParams; claims: Claims }>();
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

  /** Signs with a new key, and publishes only that. */
  async rotate(kid: string, alg = 'RS256'): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    this.#keys.set(kid, privateKey);
    this.#published = [{ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }];
  }

  /** A valid token, except for the given claims and key. */
  async token(
    claims: Claims,
    {
      kid = this.#published[0]?.kid ?? '',
      alg = this.#published[0]?.alg ?? '',
      key = '',
      header = {},
    } = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const whole = { iss: this.name, aud: AUDIENCE, iat: now, exp: now + 3600, ...claims };
    const secret = key === '' ? this.#keys.get(kid) : Buffer.from(key);
    if (!secret) throw new Error(`There is no key ${kid}.`);
    return new SignJWT(whole).setProtectedHeader({ alg, kid, ...header }).sign(secret);
  }

  /** Signs in a person who was redirected here; returns the address they return to. */
  signIn(sentTo: URL, claims: Claims): URL {
    const code = randomUUID();
    const asked = sentTo.searchParams;
    this.#codes.set(code, { asked, claims });
    const next = new URL(asked.get('redirect_uri') ?? '');
    next.search = String(new URLSearchParams({ code, state: asked.get('state') ?? '' }));
    return next;
  }

  async #exchange(request: IncomingMessage): Promise<object | undefined> {
    const form = new URLSearchParams(await text(request));
    const code = form.get('code') ?? '';
    const { asked, claims } = this.#codes.get(code) ?? {};
    this.#codes.delete(code);
    const verifier = form.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const client = { client_id: CLIENT.OIDC_CLIENT_ID, client_secret: CLIENT.OIDC_CLIENT_SECRET };
    const isRight =
      asked?.get('code_challenge') === challenge &&
      asked.get('redirect_uri') === form.get('redirect_uri') &&
      Object.entries(client).every(([name, value]) => form.get(name) === value);
    if (!isRight) return undefined;
    const auth_time = Math.floor(Date.now() / 1000);
    const id_token = await this.token({ aud: client.client_id, auth_time, ...claims });
    return { access_token: 'opaque', token_type: 'Bearer', expires_in: 60, id_token };
  }

  /** Accepts requests, always at the same address. */
  async open(): Promise<void> {
    const answer = async (request: IncomingMessage): Promise<object | undefined> => {
      if (request.url === '/realms/plants/token') return this.#exchange(request);
      if (request.url === '/realms/plants/keys') {
        this.asked += 1;
        return { keys: this.#published, padding: this.padding };
      }
      return {
        issuer: this.name,
        jwks_uri: `${this.name}/keys`,
        authorization_endpoint: `${this.name}/authorize`,
        token_endpoint: `${this.name}/token`,
      };
    };
    const server = createServer((request, response) => {
      void answer(request).then((body = { error: 'invalid_grant' }) => {
        response.statusCode = this.isBroken ? 502 : 'error' in body ? 400 : 200;
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify(body));
      });
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port; // It listens on a port.
  }

  /** Stops accepting requests, as in an outage. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    this.#server?.closeAllConnections();
    await closed;
  }
}
