import type { FetchImplementation, JWTVerifyGetKey } from 'jose';
import type * as Jose from 'jose';
import type { Logger } from 'pino';

import { isRecord } from '../../../src/core/values';

/** How long keys are taken to be the issuer's before they are asked for anew. */
const MAX_AGE_MS = 10 * 60_000;
/** How long it is until an unknown key makes them be asked for again, as a caller can invent any. */
const COOLDOWN_MS = 10_000;

/** The public keys of an issuer. */
export interface IssuerKeys {
  get: JWTVerifyGetKey;
  /** Whether they could not be had when they were last asked for: those known stay good. */
  isAway(): boolean;
}

/** @param issuer as in `iss` */
export function keysOf(issuer: string, jose: typeof Jose, log: Logger): IssuerKeys {
  const discovery = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  let known: { keys: unknown } & Record<string, unknown> = { keys: [] };
  let place: string | undefined;
  let isAway = false;

  /** Answers the keys that are known where the issuer is away, so that the library waits as well. */
  const fetchKeys: FetchImplementation = async (url, options) => {
    try {
      place ??= await placeOf(await fetched(url, options), issuer);
      const found = await fetched(place, options);
      if (!Array.isArray(found['keys'])) throw new Error(`${place} has no keys.`);
      known = { ...found, keys: found['keys'] };
      isAway = false;
    } catch (error) {
      place = undefined;
      isAway = true;
      log.warn({ err: error }, 'The keys of OIDC_ISSUER cannot be had; those known stay good');
    }
    return Response.json(known);
  };
  const get = jose.createRemoteJWKSet(discovery, {
    cacheMaxAge: MAX_AGE_MS,
    cooldownDuration: COOLDOWN_MS,
    [jose.customFetch]: fetchKeys,
  });
  return { get, isAway: () => isAway };
}

async function fetched(url: string, options: RequestInit): Promise<Record<string, unknown>> {
  const answer = await fetch(url, options);
  const content: unknown = answer.ok ? await answer.json() : undefined;
  if (!isRecord(content)) throw new Error(`${url} answered ${answer.status}, without an object.`);
  return content;
}

/** Where the keys are, by the discovery document of the issuer. */
async function placeOf(document: Record<string, unknown>, name: string): Promise<string> {
  const { issuer, jwks_uri: place } = document;
  if (issuer !== name) throw new Error(`It calls itself ${String(issuer)}.`);
  return String(place);
}
