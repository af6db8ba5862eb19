import type { FetchImplementation, JWTVerifyGetKey } from 'jose';
import type * as Jose from 'jose';
import type { Logger } from 'pino';

import { isRecord } from '../../../src/core/values';
import { boundedFetch } from './bounded-fetch';

/** How long keys are cached. */
const MAX_AGE_MS = 10 * 60_000;
/** How often unknown keys may cause a fetch: callers can invent any number of them. */
const FETCHES = { most: 3, ms: 10_000 };

/** The public keys of an issuer. */
export interface IssuerKeys {
  get: JWTVerifyGetKey;
  /** Whether the last fetch failed; known keys stay valid. */
  isDown(): boolean;
}

/** @param issuer as in `iss` */
export function keysOf(issuer: string, jose: typeof Jose, log: Logger): IssuerKeys {
  const discovery = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  let known: { keys: unknown } & Record<string, unknown> = { keys: [] };
  let jwksUri: string | undefined;
  let isDown = false;
  let fetches: number[] = [];

  /** Returns the known keys if the issuer is down, or has been asked too often. */
  const fetchKeys: FetchImplementation = async (url, options) => {
    const now = Date.now();
    fetches = fetches.filter((at) => now - at < FETCHES.ms);
    if (fetches.length >= FETCHES.most) return Response.json(known);
    fetches.push(now);
    try {
      jwksUri ??= jwksUriOf(await fetched(url, options), issuer);
      const found = await fetched(jwksUri, options);
      if (!Array.isArray(found['keys'])) throw new Error(`${jwksUri} has no keys.`);
      known = { ...found, keys: found['keys'] };
      isDown = false;
    } catch (error) {
      jwksUri = undefined;
      isDown = true;
      log.warn({ err: error }, 'The keys of OIDC_ISSUER cannot be fetched; known keys stay valid');
    }
    return Response.json(known);
  };
  const get = jose.createRemoteJWKSet(discovery, {
    cacheMaxAge: MAX_AGE_MS,
    cooldownDuration: 0,
    [jose.customFetch]: fetchKeys,
  });
  return { get, isDown: () => isDown };
}

async function fetched(url: string, options: RequestInit): Promise<Record<string, unknown>> {
  const response = await boundedFetch(url, options);
  const content: unknown = response.ok ? await response.json() : undefined;
  if (!isRecord(content))
    throw new Error(`${url} responded with ${response.status}, without a JSON object.`);
  return content;
}

/** The URL of the keys, from the issuer's discovery document. */
function jwksUriOf(document: Record<string, unknown>, name: string): string {
  const { issuer, jwks_uri: jwksUri } = document;
  if (issuer !== name) {
    throw new Error(`Its discovery document names the issuer ${String(issuer)}.`);
  }
  return String(jwksUri);
}
