import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';

import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

import { hashOf } from '../../../src/core/secrets';
import { isRecord } from '../../../src/core/values';
import { PageFault } from '../pages/texts';
import type { Passkey } from '../state/model';
import type { StateStore } from '../state/store';

/** For how long a page may stay open before its button is pressed. */
const CHALLENGE_MS = 60 * 60_000;
/** How many pages with such a button an address gets; others are without. */
const CHALLENGES = { most: 300, seconds: 60 };
/** EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257];

/** Where a browser is, and whose budget it spends. */
export interface Place {
  origin: string;
  client: string;
}

/** What a browser sent, as far as it has the form of it. */
interface Sent {
  /** Of the passkey. */
  id: string;
  challenge: string;
  /** As the library takes it, which looks at all of it. */
  response: unknown;
}

/** Passkeys: what browsers are asked, and whether it is true what they answer (WebAuthn). */
export class Passkeys {
  readonly #store: StateStore;

  constructor(store: StateStore) {
    this.#store = store;
  }

  /** What makes a browser ask for a passkey, as JSON; undefined where there can be none. */
  async request(place: Place): Promise<string | undefined> {
    const challenge = await this.#challenge(place);
    const rpId = nameOf(place);
    return challenge && JSON.stringify({ challenge, rpId, userVerification: 'required' });
  }

  /**
   * What makes a browser make a passkey, as JSON; undefined where there can be none.
   *
   * @param account undefined where its name is yet to be typed
   * @param known ids of the passkeys that the account has
   */
  async creation(
    place: Place,
    account: string | undefined,
    known: readonly string[] = [],
  ): Promise<string | undefined> {
    const challenge = await this.#challenge(place);
    if (challenge === undefined) return undefined;
    // A device has one passkey of an account: another takes its place.
    const id = account === undefined ? randomText() : hashOf(`passkey of ${account}`);
    const name = account ?? '';
    return JSON.stringify({
      challenge,
      rp: { id: nameOf(place), name: 'Plant care' },
      user: { id, name, displayName: name },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      excludeCredentials: known.map((id) => ({ type: 'public-key', id })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  }

  /**
   * The passkey that a browser made.
   *
   * @param name what it is to be known by
   * @throws PageFault where it is not what the browser was asked for
   */
  async made(place: Place, json: string, name: string): Promise<Passkey> {
    const sent = sentIn(json);
    if (!sent || !(await this.#spend(sent))) throw new PageFault('badPasskey');
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
    const { decodeAttestationObject, isoBase64URL } =
      await import('@simplewebauthn/server/helpers');
    // The library checks its form.
    const response = sent.response as RegistrationResponseJSON;
    const verify = async () => {
      const attested = isoBase64URL.toBuffer(response.response.attestationObject);
      // Nobody asked who made the device; the library would follow addresses in certificates.
      if (decodeAttestationObject(attested).get('fmt') !== 'none') return undefined;
      const { registrationInfo } = await verifyRegistrationResponse({
        response,
        supportedAlgorithmIDs: ALGORITHMS,
        ...expected(place, sent),
      });
      return registrationInfo?.credential;
    };
    const credential = await verify().catch(() => undefined);
    if (!credential) throw new PageFault('badPasskey');
    const { id, counter } = credential;
    const publicKey = Buffer.from(credential.publicKey).toString('base64url');
    return { id, name, publicKey, counter, createdAt: new Date(), lastUsedAt: null };
  }

  /**
   * The passkey that a browser used, and how often its device says that it was.
   *
   * @param find finds it by its id
   * @returns undefined where it did not answer what it was asked, or uses an older copy of a passkey
   */
  async used<Found extends { passkey: Passkey }>(
    place: Place,
    json: string,
    find: (id: string) => Promise<Found | undefined>,
  ): Promise<(Found & { counter: number }) | undefined> {
    const sent = sentIn(json);
    if (!sent || !(await this.#spend(sent))) return undefined;
    const found = await find(sent.id);
    if (!found) return undefined;
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
    const { id, counter, publicKey: key } = found.passkey;
    const publicKey = new Uint8Array(Buffer.from(key, 'base64url'));
    const verified = await verifyAuthenticationResponse({
      response: sent.response as AuthenticationResponseJSON, // As above.
      credential: { id, publicKey, counter },
      ...expected(place, sent),
    }).catch(() => undefined);
    if (verified?.verified !== true) return undefined;
    return { ...found, counter: verified.authenticationInfo.newCounter };
  }

  async #challenge(place: Place): Promise<string | undefined> {
    // Browsers have none for bare addresses.
    if (isIP(nameOf(place).replace(/[[\]]/g, '')) !== 0) return undefined;
    if (!(await this.#store.spend(`challenge ${place.client}`, CHALLENGES))) return undefined;
    const challenge = randomText();
    const expiresAt = new Date(Date.now() + CHALLENGE_MS);
    await this.#store.put({}, challenge, { kind: 'Challenge', payload: '{}', expiresAt });
    return challenge;
  }

  /** Whether a challenge is ours; it is for nobody else then. */
  async #spend({ challenge }: Sent): Promise<boolean> {
    const good = { kind: 'Challenge', expiresAt: { $gt: new Date() } };
    const asked = { _id: hashOf(challenge), ...good };
    return (await this.#store.documents.deleteOne(asked)).deletedCount === 1;
  }
}

function nameOf({ origin }: Place): string {
  return new URL(origin).hostname;
}

function expected(place: Place, { challenge }: Sent) {
  const { origin: expectedOrigin } = place;
  return { expectedOrigin, expectedRPID: nameOf(place), expectedChallenge: challenge };
}

function sentIn(json: string): Sent | undefined {
  try {
    const response: unknown = JSON.parse(json);
    if (!isRecord(response) || !isRecord(response['response'])) return undefined;
    const { clientDataJSON } = response['response'];
    const data: unknown = JSON.parse(Buffer.from(String(clientDataJSON), 'base64url').toString());
    if (!isRecord(data)) return undefined;
    return { id: String(response['id']), challenge: String(data['challenge']), response };
  } catch {
    return undefined;
  }
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}
