import { randomBytes } from 'node:crypto';

import type { Tier } from '../../../src/core/identity';
import { TIERS } from '../../../src/core/identity';
import { hashOf } from '../../../src/core/secrets';
import { accountTarget, type Acting } from '../../../src/data/audit/entry';
import { PageFault, type Sentence } from '../pages/texts';
import { credentialModel } from '../state/model';
import { payloadOf, type StateStore } from '../state/store';
import { hashOfPassword, isPassword, passwordFault } from './passwords';

/** How often somebody may try a name in vain, by whichever addresses. */
const TRIES = { most: 10, seconds: 900 };
/** Names that people choose themselves: none that looks like another. */
const OWN_NAME = /^[a-z0-9][a-z0-9._@-]{0,63}$/;

/** An account that somebody was asked to come to. */
interface Invitation {
  name: string;
  tier: Tier | undefined;
}

/** Who may sign in, and by what. */
export class People {
  readonly #store: StateStore;
  readonly #credentials;

  constructor(store: StateStore) {
    this.#store = store;
    this.#credentials = store.host.records(credentialModel);
  }

  /**
   * Refuses a name and a password that do not belong together, whatever is wrong with them.
   *
   * @param onFailure has the address pay
   * @param fault what is said
   * @throws PageFault
   */
  async check(
    name: string,
    password: string,
    onFailure: () => Promise<void>,
    fault: Sentence = 'wrong',
  ): Promise<void> {
    const key = `sign-in ${name}`;
    if (!(await this.#store.spend(key, TRIES))) {
      await onFailure();
      throw new PageFault('tooMany', 429);
    }
    const stored = await this.#credentials.findOne({}, { _id: name });
    const isRight = await isPassword(stored?.passwordHash, password);
    if (!isRight || !(await this.#store.accounts.isOpen(name))) {
      await onFailure();
      throw new PageFault(fault);
    }
    // Only failures cost the name anything.
    await this.#store.spend(key, TRIES, -1);
  }

  /** Records that somebody has signed in. */
  async recordSignIn(name: string, acting: ActingFor): Promise<void> {
    await this.#store.host.transactShared(async (tx) => {
      tx.audit({ action: 'session.started', target: accountTarget(name) }, name, acting(name));
    });
  }

  /** Asks somebody to an account, in place of who was asked to it before; answers the secret. */
  async invite(name: string, tier: Tier | undefined, seconds: number): Promise<string> {
    const secret = randomBytes(24).toString('base64url');
    const expiresAt = new Date(Date.now() + seconds * 1000);
    const payload = JSON.stringify({ name, tier });
    await this.#store.host.transactShared(async (tx) => {
      const scope = { session: tx.session };
      await this.#store.records.deleteMany(scope, { userId: name, kind: 'Invitation' });
      const invitation = { kind: 'Invitation', payload, expiresAt, userId: name };
      await this.#store.put(tx, secret, invitation);
      const act = { action: 'account.invited', target: accountTarget(name) };
      tx.audit({ ...act, changes: { expiresAt } }, name);
    });
    return secret;
  }

  /** The account that a good invitation is for. */
  async invitation(secret: string): Promise<Invitation | undefined> {
    const found = await this.#store.find('Invitation', secret);
    if (!found) return undefined;
    const { name, tier } = payloadOf(found);
    return { name: String(name), tier: TIERS.find((each) => each === tier) };
  }

  /**
   * Sets the password of the account that somebody was invited to, and makes it where there is none.
   * Whoever was signed in to it is out.
   *
   * @returns the account
   * @throws PageFault
   */
  async acceptInvitation(secret: string, password: string, acting: ActingFor): Promise<string> {
    const invited = await this.invitation(secret);
    if (!invited) throw new PageFault('badInvitation');
    const { name, tier } = invited;
    const passwordHash = await goodHash(password, name);
    await this.#store.host.transactShared(async (tx) => {
      const scope = { session: tx.session };
      const invitation = { _id: hashOf(secret), kind: 'Invitation' };
      const isUnused = await this.#store.records.deleteOne(scope, invitation);
      if (!isUnused) throw new PageFault('badInvitation');
      await this.#store.accounts.createIn(tx, name, { tier });
      await this.#store.endSessions(tx.session, name);
      const set = { passwordHash, createdAt: tx.now };
      await this.#credentials.upsert(scope, { _id: name }, { $set: set });
      const act = { action: 'credentials.set', target: accountTarget(name) };
      tx.audit(act, name, acting(name));
    });
    return name;
  }

  /**
   * Makes an account for whoever comes.
   *
   * @throws PageFault where the name or the password is not good, or somebody has the name
   */
  async signUp(name: string, password: string, acting: ActingFor): Promise<void> {
    if (!OWN_NAME.test(name)) throw new PageFault('badName');
    const passwordHash = await goodHash(password, name);
    await this.#store.host.transactShared(async (tx) => {
      const isNew = await this.#store.accounts.createIn(tx, name, {});
      if (!isNew) throw new PageFault('taken');
      const set = { passwordHash, createdAt: tx.now };
      await this.#credentials.upsert({ session: tx.session }, { _id: name }, { $set: set });
      const act = { action: 'credentials.set', target: accountTarget(name) };
      tx.audit(act, name, acting(name));
    });
  }

  hasPassword(name: string): Promise<boolean> {
    return this.#credentials.exists({}, { _id: name, passwordHash: { $exists: true } });
  }

  /**
   * Sets another password of who is signed in, and signs them out everywhere.
   *
   * @param onFailure has the address pay
   * @throws PageFault where theirs of now is not given, or the next one not good enough
   */
  async setPassword(
    name: string,
    { now, next }: { now: string; next: string },
    acting: ActingFor,
    onFailure: () => Promise<void>,
  ): Promise<void> {
    if (await this.hasPassword(name)) await this.check(name, now, onFailure, 'wrongNow');
    const passwordHash = await goodHash(next, name);
    await this.#store.host.transactShared(async (tx) => {
      const scope = { session: tx.session };
      await this.#credentials.updateOne(scope, { _id: name }, { $set: { passwordHash } });
      await this.#store.endSessions(tx.session, name);
      const act = { action: 'credentials.set', target: accountTarget(name) };
      tx.audit(act, name, acting(name));
    });
  }
}

/** Who acts, once it is known which account they come to. */
export type ActingFor = (account: string) => Acting;

/** @throws PageFault where the password is not good enough */
async function goodHash(password: string, name: string): Promise<string> {
  const fault = passwordFault(password, name);
  if (fault !== undefined) throw new PageFault(fault);
  return hashOfPassword(password);
}
