import type { JWTPayload } from 'jose';
import type * as Jose from 'jose';

import { serviceUnavailable } from '../../../src/core/errors';
import {
  backendId,
  TIERS,
  type Tier,
  type TokenFault,
  unlessGone,
  hashOf,
} from '../../../src/core/identity';
import { toStoredId } from '../../../src/core/ids';
import { DAY_MS } from '../../../src/core/time';
import type { Transaction } from '../../../src/data/writing/transaction';
import { isJwt, MANAGE_SCOPE, type TokenKind } from '../../accounts';
import { publicId, scopesIn, type StateStore } from '../state/store';
import { type IssuerKeys, keysOf } from './keys';
import type { Issuer } from './settings';

/** Asymmetric only: otherwise the public key could sign. */
const ALGORITHMS = ['RS', 'PS', 'ES'].flatMap((kind) =>
  [256, 384, 512].map((bits) => `${kind}${bits}`),
);
/** What `typ` may say, in lower case; other kinds of token have the same claims and keys. */
const TYPES = ['at+jwt', 'application/at+jwt', 'jwt'];
/** How much the clocks of the issuer and of this machine may differ. */
export const TOLERANCE_SECONDS = 30;
/** When a signature is checked again: the issuer may have withdrawn its key. */
const TRUSTED_MS = 10 * 60_000;
const MAX_NAME = 100;
/** Longer than the tokens of any well-known issuer live. */
const CLOSING_MS = 31 * DAY_MS;

type Claims = JWTPayload & { iss: string; sub: string; exp: number };

/** JWTs of an issuer. The first valid one of a person creates the account. */
export class IssuerTokens implements TokenKind {
  readonly isOne = isJwt;
  readonly #issuer: Issuer;
  readonly #store: StateStore;
  #checking: Promise<{ jose: typeof Jose; keys: IssuerKeys }> | undefined;

  constructor(issuer: Issuer, store: StateStore) {
    this.#issuer = issuer;
    this.#store = store;
  }

  /** @throws ApiError service_unavailable if the key is unknown and the issuer is down */
  async find(token: string, hash: string): ReturnType<TokenKind['find']> {
    const claims = await this.#verified(token);
    if (typeof claims === 'string') return claims;
    const { iss, sub, exp, iat = 0, client_id: client = claims['azp'] } = claims;
    const scopes = this.#scopesOf(claims);
    const person = accountOf(iss, sub);
    const isBackend = scopes.includes(MANAGE_SCOPE);
    const userId = isBackend ? backendId(person) : person;
    if (!(await this.#open(userId, iat, this.#tierOf(claims)))) return 'revoked';
    const program = typeof client === 'string' && client !== '' ? client : new URL(iss).host;
    return {
      // Identifies the client and the person, whichever token is used.
      _id: toStoredId(publicId(hashOf(`${userId} ${program}`))),
      userId,
      hash,
      name: program.slice(0, MAX_NAME),
      scopes: isBackend ? [MANAGE_SCOPE] : scopes,
      createdAt: new Date(iat * 1000),
      expiresAt: new Date((exp + TOLERANCE_SECONDS) * 1000),
      revokedAt: null,
      lastUsedAt: null,
      askAgainAt: new Date(Date.now() + TRUSTED_MS),
    };
  }

  /** The account of a person who signed in at the issuer; undefined if it was deleted since. */
  async openFor({ iss, sub, iat = 0 }: JWTPayload): Promise<string | undefined> {
    if (iss === undefined || sub === undefined) return undefined;
    const userId = accountOf(iss, sub);
    return (await this.#open(userId, iat, undefined)) ? userId : undefined;
  }

  async #verified(token: string): Promise<Claims | TokenFault> {
    // Loading it takes 0.2 s.
    this.#checking ??= import('jose').then((jose) => ({
      jose,
      keys: keysOf(this.#issuer.name, jose, this.#store.host.log),
    }));
    const { jose, keys } = await this.#checking;
    try {
      const { payload, protectedHeader } = await jose.jwtVerify(token, keys.get, {
        issuer: this.#issuer.name,
        audience: this.#issuer.audience,
        algorithms: [...ALGORITHMS, 'EdDSA', 'Ed25519'],
        clockTolerance: TOLERANCE_SECONDS,
        requiredClaims: ['sub', 'exp'],
      });
      const { typ = 'JWT' } = protectedHeader;
      if (!TYPES.includes(typ.toLowerCase())) return 'unknown';
      return typeof payload.sub === 'string' && payload.sub !== ''
        ? (payload as Claims)
        : 'unknown'; // As just checked.
    } catch (error) {
      const { errors } = jose;
      if (error instanceof errors.JWKSNoMatchingKey && keys.isDown()) {
        throw serviceUnavailable.error('The issuer of the token cannot be reached to verify it.');
      }
      if (error instanceof errors.JWTExpired) return 'expired';
      if (!(error instanceof errors.JWTClaimValidationFailed)) return 'unknown';
      const faults: Record<string, TokenFault> = { aud: 'foreign', nbf: 'early' };
      return faults[error.claim] ?? 'unknown';
    }
  }

  /** The scopes that a token names; those of OIDC_SCOPES if it names none of ours. */
  #scopesOf({ scope, scp, permissions }: Claims): string[] {
    const named = new Set([scope, scp, permissions].flat().flatMap(scopesIn));
    const ours = [...this.#store.host.scopes.keys()].filter((each) => named.has(each));
    const { scopes: granted } = this.#issuer;
    if (ours.length === 0) return granted.filter((each) => each !== MANAGE_SCOPE);
    return ours.filter((each) => each !== MANAGE_SCOPE || granted.includes(MANAGE_SCOPE));
  }

  /** Free if the claim is missing: the issuer may set it only for people who pay. */
  #tierOf(claims: Claims): Tier | undefined {
    const { tierClaim } = this.#issuer;
    if (tierClaim === undefined) return undefined;
    return TIERS.find((tier) => tier === claims[tierClaim]) ?? 'free';
  }

  /**
   * Creates the account if necessary, and sets its tier.
   *
   * @returns false if the token is older than the deletion of the account
   */
  async #open(userId: string, issuedAt: number, tier: Tier | undefined): Promise<boolean> {
    const { accounts } = this.#store;
    if (await accounts.isOpen(userId)) {
      if (tier !== undefined) await unlessGone(accounts.ensureAccount(userId, tier));
      return true;
    }
    const closing = await this.#store.find('Closing', closingOf(userId));
    if (closing && issuedAt * 1000 <= closing.expiresAt.getTime() - CLOSING_MS) return false;
    await accounts.putAccount(userId, { tier });
    return true;
  }

  /** Records that an account is deleted: older tokens must not create it again. */
  async noteClosing({ session, userId, now }: Transaction): Promise<void> {
    const expiresAt = new Date(now.getTime() + CLOSING_MS);
    const closing = { kind: 'Closing', payload: '{}', expiresAt };
    await this.#store.put({ session }, closingOf(userId), closing);
  }
}

function closingOf(userId: string): string {
  return `closing ${userId}`;
}

/** The account id of a person; people of different issuers never share one. */
function accountOf(issuer: string, subject: string): string {
  return `oidc|${hashOf(JSON.stringify([issuer, subject]))}`;
}
