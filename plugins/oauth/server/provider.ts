import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

import { LRUCache } from 'lru-cache';
import type * as OidcProvider from 'oidc-provider';
import type Provider from 'oidc-provider';

import { hashOf } from '../../../src/core/identity';
import { ACCESS_TOKEN_PREFIX, usualScopes } from '../../accounts';
import { refreshTokenOf } from '../state/refresh-tokens';
import { payloadOf } from '../state/store';
import { configurationFor, OWN_SCOPES, type ServerDependencies } from './configuration';
import { loadLibrary } from './library';

/** How many origins a process serves: PUBLIC_URL, or names and ports of loopback. */
const MAX_ORIGINS = 8;
/** The expiry of documents that never expire, such as the signing keys. */
export const NEVER = new Date('9999-12-31T00:00:00Z');

/** The authorization servers, one for each origin at which the program is reached. */
export class Providers {
  readonly #byOrigin = new LRUCache<string, Promise<Provider>>({ max: MAX_ORIGINS });
  readonly #dependencies: ServerDependencies;

  constructor(dependencies: ServerDependencies) {
    this.#dependencies = dependencies;
  }

  /** The authorization server at an origin, created when first needed. */
  at(origin: string): Promise<Provider> {
    const known = this.#byOrigin.get(origin);
    if (known) return known;
    const made = this.#make(origin);
    this.#byOrigin.set(origin, made);
    // The next request tries again.
    made.catch(() => this.#byOrigin.delete(origin));
    return made;
  }

  async #make(origin: string): Promise<Provider> {
    const library = loadLibrary();
    const { store } = this.#dependencies;
    const configuration = configurationFor(origin, await this.#keys(), library, this.#dependencies);
    const provider = new library.Provider(origin, configuration);
    adapt(provider);
    // Its cookies are secure if X-Forwarded-Proto is https; `atServer` sets it.
    provider.proxy = true;
    provider.use(async (ctx: { oidc?: { route?: string }; body: object }, next) => {
      await next();
      if (ctx.oidc?.route !== 'discovery') return;
      const scopes_supported = [...OWN_SCOPES, ...usualScopes(store.host.scopes)];
      Object.assign(ctx.body, { scopes_supported, response_modes_supported: ['query'] });
    });
    provider.on('server_error', (_ctx: unknown, error: Error) => {
      // The host answers and logs it; the library would answer an outage with 500.
      throw error;
    });
    return provider;
  }

  /** The signing keys, created once, by whichever process is first. */
  async #keys(): Promise<{ keys: OidcProvider.JWK[] }> {
    const { documents } = this.#dependencies.store;
    const _id = hashOf('keys');
    const known = await documents.findOne({ _id }).lean();
    // As stored below.
    if (known) return payloadOf(known) as { keys: OidcProvider.JWK[] };
    const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
    const key = { ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' };
    const payload = JSON.stringify({ keys: [key] });
    const made = { kind: 'Keys', payload, createdAt: new Date(), expiresAt: NEVER };
    await documents.updateOne({ _id }, { $setOnInsert: made }, { upsert: true });
    return this.#keys();
  }
}

/** Methods of the library's models that no setting replaces (https://github.com/panva/node-oidc-provider/issues/631). */
interface Inside {
  Client: {
    prototype: { compareClientSecret(this: OidcProvider.Client, secret: string): boolean };
  };
  AccessToken: { prototype: { generateTokenId: () => string } };
  RefreshToken: { prototype: { generateTokenId(this: { grantId: string }): string } };
  Session: { prototype: { resetIdentifier: () => void } };
}

function adapt(provider: Provider): void {
  // The types of the library omit some of its methods.
  const inside = provider as unknown as Inside;
  // Only the hash of a secret is stored.
  inside.Client.prototype.compareClientSecret = function compareClientSecret(secret) {
    return this.clientSecret === hashOf(secret);
  };
  // Signing in already changes the id, and the adapter stores no session under a new one.
  inside.Session.prototype.resetIdentifier = () => undefined;
  const { AccessToken, RefreshToken } = inside;
  const original = AccessToken.prototype.generateTokenId;
  AccessToken.prototype.generateTokenId = function generateTokenId() {
    return ACCESS_TOKEN_PREFIX + original.call(this);
  };
  RefreshToken.prototype.generateTokenId = function generateTokenId() {
    return refreshTokenOf(original.call(this), this.grantId);
  };
}
