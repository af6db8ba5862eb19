import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';

import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

import { hashOf } from '../../../src/core/identity';
import { isRecord } from '../../../src/core/values';
import { PageFault } from '../pages/texts';
import type { Passkey } from '../state/model';
import type { StateStore } from '../state/store';

/** How long a page with a passkey button may stay open. */
const CHALLENGE_MS = 60 * 60_000;
/** How many such pages an address gets; further ones have no button. */
const CHALLENGES = { most: 300, seconds: 60 };
/** EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257];

/** The longest credential id, in bytes (WebAuthn, section 4). */
const MAX_ID_BYTES = 1023;

/** The page of ours that a browser shows. */
export interface BrowserPage {
  origin: string;
  /** The client address, whose budgets it spends. */
  client: string;
  /** The path of the page. */
  path: string;
  /** The secret of the browser's forms. */
  form: string;
  /** The secret by which the browser is known; empty if nobody has signed in with it. */
  device: string;
}

/** A response of a browser, not yet verified. */
interface Sent {
  /** The credential id. */
  id: string;
  challenge: string;
  /** The whole response, for the library. */
  response: unknown;
}

/** Registers and verifies passkeys (WebAuthn). */
export class Passkeys {
  readonly #store: StateStore;

  constructor(store: StateStore) {
    this.#store = store;
  }

  /** Options for `navigator.credentials.get`, as JSON; undefined if passkeys cannot be used here. */
  async authenticationOptions(page: BrowserPage): Promise<string | undefined> {
    const challenge = await this.#challenge(page, undefined);
    const rpId = nameOf(page);
    return challenge && JSON.stringify({ challenge, rpId, userVerification: 'required' });
  }

  /**
   * Options for `navigator.credentials.create`, as JSON; undefined if passkeys cannot be used here.
   *
   * @param account undefined if the person has yet to choose a name
   * @param known ids of the account's passkeys
   */
  async registrationOptions(
    page: BrowserPage,
    account: string | undefined,
    known: readonly string[] = [],
  ): Promise<string | undefined> {
    const challenge = await this.#challenge(page, account);
    if (challenge === undefined) return undefined;
    // A device keeps one passkey for each user id.
    const id = account === undefined ? randomText() : hashOf(`passkey of ${account}`);
    const name = account ?? '';
    return JSON.stringify({
      challenge,
      rp: { id: nameOf(page), name: 'Plant care' },
      user: { id, name, displayName: name },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      excludeCredentials: known.map((id) => ({ type: 'public-key', id })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  }

  /**
   * Verifies a new passkey.
   *
   * @param account as in {@link registrationOptions}
   * @param name what its person will know it by
   * @throws PageFault if it is invalid
   */
  async verifyRegistration(
    page: BrowserPage,
    account: string | undefined,
    json: string,
    name: string,
  ): Promise<Passkey> {
    const sent = sentIn(json);
    if (!sent || !(await this.#spend(page, account, sent))) throw new PageFault('badPasskey');
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
    const { decodeAttestationObject, isoBase64URL } =
      await import('@simplewebauthn/server/helpers');
    // The library validates it.
    const response = sent.response as RegistrationResponseJSON;
    const verify = async () => {
      const attested = isoBase64URL.toBuffer(response.response.attestationObject);
      // To check an attestation, the library would fetch URLs from certificates.
      if (decodeAttestationObject(attested).get('fmt') !== 'none') return undefined;
      const { registrationInfo } = await verifyRegistrationResponse({
        response,
        supportedAlgorithmIDs: ALGORITHMS,
        ...expected(page, sent),
      });
      return registrationInfo?.credential;
    };
    const credential = await verify().catch(() => undefined);
    if (!credential || isTooLong(credential.id)) throw new PageFault('badPasskey');
    const { id, counter } = credential;
    const publicKey = Buffer.from(credential.publicKey).toString('base64url');
    return { id, name, publicKey, counter, createdAt: new Date(), lastUsedAt: null };
  }

  /**
   * Verifies the use of a passkey.
   *
   * @param find finds a passkey by its id
   * @returns what `find` returned, with the new counter; undefined if the response is invalid, or its
   *   counter has gone back, as that of a copied passkey
   */
  async verifyAuthentication<Found extends { passkey: Passkey }>(
    page: BrowserPage,
    json: string,
    find: (id: string) => Promise<Found | undefined>,
  ): Promise<(Found & { counter: number }) | undefined> {
    const sent = sentIn(json);
    if (!sent || !(await this.#spend(page, undefined, sent))) return undefined;
    const found = await find(sent.id);
    if (!found) return undefined;
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
    const { id, counter, publicKey: key } = found.passkey;
    const publicKey = new Uint8Array(Buffer.from(key, 'base64url'));
    const verified = await verifyAuthenticationResponse({
      response: sent.response as AuthenticationResponseJSON, // As above.
      credential: { id, publicKey, counter },
      ...expected(page, sent),
    }).catch(() => undefined);
    if (verified?.verified !== true) return undefined;
    return { ...found, counter: verified.authenticationInfo.newCounter };
  }

  async #challenge(page: BrowserPage, account: string | undefined): Promise<string | undefined> {
    // Browsers do not support passkeys at IP addresses.
    if (isIP(nameOf(page).replace(/[[\]]/g, '')) !== 0) return undefined;
    if (!(await this.#store.spend(`challenge ${page.client}`, CHALLENGES))) return undefined;
    const challenge = randomText();
    const expiresAt = new Date(Date.now() + CHALLENGE_MS);
    const secret = secretOf(page, account, challenge);
    await this.#store.put({}, secret, { kind: 'Challenge', payload: '{}', expiresAt });
    return challenge;
  }

  /** Whether a challenge is valid on this page; it is used up then. */
  async #spend(
    page: BrowserPage,
    account: string | undefined,
    { challenge }: Sent,
  ): Promise<boolean> {
    const good = { kind: 'Challenge', expiresAt: { $gt: new Date() } };
    const unused = { _id: hashOf(secretOf(page, account, challenge)), ...good };
    return (await this.#store.documents.deleteOne(unused)).deletedCount === 1;
  }
}

/** Binds a challenge to a page of one browser, and to the account that it is about. */
function secretOf(
  { path, form }: BrowserPage,
  account: string | undefined,
  challenge: string,
): string {
  return JSON.stringify([challenge, path, form, account]);
}

function isTooLong(id: string): boolean {
  return Buffer.byteLength(id, 'base64url') > MAX_ID_BYTES;
}

function nameOf({ origin }: BrowserPage): string {
  return new URL(origin).hostname;
}

function expected(page: BrowserPage, { challenge }: Sent) {
  const { origin: expectedOrigin } = page;
  return { expectedOrigin, expectedRPID: nameOf(page), expectedChallenge: challenge };
}

function sentIn(json: string): Sent | undefined {
  try {
    const response: unknown = JSON.parse(json);
    if (!isRecord(response) || !isRecord(response['response'])) return undefined;
    const { clientDataJSON } = response['response'];
    const data: unknown = JSON.parse(Buffer.from(String(clientDataJSON), 'base64url').toString());
    // A page of another site may have framed ours.
    if (!isRecord(data) || (data['crossOrigin'] ?? false) !== false) return undefined;
    return { id: String(response['id']), challenge: String(data['challenge']), response };
  } catch {
    return undefined;
  }
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}
