import { randomBytes } from 'node:crypto';

import type { ClientSession } from 'mongoose';

import { type Tier, TIERS, hashOf } from '../../../src/core/identity';
import { accountTarget, type Acting } from '../../../src/data/audit/entry';
import { PageFault } from '../pages/texts';
import { knownDevice } from '../state/devices';
import { payloadOf, type StateStore } from '../state/store';
import type { Credentials, NewCredential } from './credentials';
import type { Links } from '../mail/links';
import type { Passkeys, BrowserPage } from './passkeys';

/** How many failures a name may have from one address, or from one browser that signed in to it before. */
const TRIES = { most: 10, seconds: 900 };
/** How many it may have from all browsers that have not. */
const STRANGERS_TRIES = { ...TRIES, most: 200 };
/** How many accounts an address may create without invitations. */
const SIGN_UPS = { most: 100, seconds: 3600 };
/** Names that people may choose: none looks like another. */
const OWN_NAME = /^[a-z0-9][a-z0-9._@-]{0,63}$/;

/** An invitation to an account, which may not exist yet. */
interface Invitation {
  name: string;
  tier: Tier | undefined;
}

/** Signing up and signing in. */
export class People {
  readonly #store: StateStore;
  readonly #links: Links;

  constructor(
    store: StateStore,
    readonly credentials: Credentials,
    readonly passkeys: Passkeys,
    links: Links,
  ) {
    this.#store = store;
    this.#links = links;
  }

  /**
   * Signs a person in with a name and a password.
   *
   * @param page where the person is, whose budgets a failure spends
   * @param begin begins the session
   * @throws PageFault with the same sentence whatever was wrong
   */
  async signIn(
    page: BrowserPage,
    { name, password }: { name: string; password: string },
    begin: () => Promise<void>,
  ): Promise<void> {
    const device = await knownDevice(this.#store, page.device, name);
    const whose = device === undefined ? 'stranger' : 'known';
    const budgets =
      device === undefined
        ? [
            { key: `sign-in ${name} ${page.client}`, budget: TRIES },
            { key: `sign-in ${name}`, budget: STRANGERS_TRIES },
          ]
        : [{ key: `sign-in ${name} ${device}`, budget: TRIES }];
    const now = new Date();
    const isRight = await this.credentials.isPassword(name, password, whose, async () => {
      for (const { key, budget } of budgets) await this.#spendTry(key, budget, now);
    });
    if (!isRight || !(await this.#store.accounts.isOpen(name))) throw new PageFault('wrong');
    // Sign-ins have a budget of their own; those beyond it count as failures.
    await begin();
    for (const { key, budget } of budgets) await this.#store.giveBack(key, budget, now);
  }

  /** @throws PageFault if the budget is spent */
  async #spendTry(key: string, budget: typeof TRIES, now?: Date): Promise<void> {
    if (await this.#store.spend(key, budget, now)) return;
    throw new PageFault('tooMany', 429, budget.seconds);
  }

  /**
   * Returns the account of the passkey that a browser used.
   *
   * @throws PageFault
   */
  async checkPasskey(page: BrowserPage, json: string): Promise<string> {
    const { credentials, passkeys } = this;
    const used = await passkeys.verifyAuthentication(page, json, (id) => credentials.passkey(id));
    const isNoted = used && (await credentials.noteUse(used.passkey, used.counter));
    if (isNoted && (await this.#store.accounts.isOpen(used.account))) return used.account;
    throw new PageFault('badPasskey');
  }

  /** Creates an invitation to an account in place of an earlier one; returns its secret. */
  async invite(name: string, tier: Tier | undefined, seconds: number): Promise<string> {
    const secret = randomBytes(24).toString('base64url');
    const expiresAt = new Date(Date.now() + seconds * 1000);
    const payload = JSON.stringify({ name, tier });
    await this.#store.host.transactShared(async (tx) => {
      const scope = { session: tx.session };
      await this.#store.documents.deleteMany({ userId: name, kind: 'Invitation' }, scope);
      const invitation = { kind: 'Invitation', payload, expiresAt, userId: name };
      await this.#store.put(tx, secret, invitation);
      const act = { action: 'account.invited', target: accountTarget(name) };
      tx.audit({ ...act, changes: { expiresAt } }, name);
    });
    return secret;
  }

  /** The valid invitation of a secret. */
  async invitation(secret: string): Promise<Invitation | undefined> {
    const found = await this.#store.find('Invitation', secret);
    if (!found) return undefined;
    const { name, tier } = payloadOf(found);
    return { name: String(name), tier: TIERS.find((each) => each === tier) };
  }

  /** Creates a link that signs whoever opens it in to an account; returns its secret. */
  async createLink(name: string, seconds: number): Promise<string> {
    const secret = randomBytes(24).toString('base64url');
    const expiresAt = new Date(Date.now() + seconds * 1000);
    await this.#store.put({}, secret, { kind: 'Link', payload: '{}', expiresAt, userId: name });
    return secret;
  }

  /** The account of a valid link, which then is no more. */
  async spendLink(secret: string): Promise<string | undefined> {
    const name = (await this.#store.take('Link', secret))?.userId;
    return name !== undefined && (await this.#store.accounts.isOpen(name)) ? name : undefined;
  }

  /**
   * Replaces all ways to sign in to the account of an invitation, creates it if necessary, and ends its
   * sessions.
   *
   * @returns the account
   * @throws PageFault
   */
  async acceptInvitation(
    secret: string,
    credential: NewCredential,
    acting: Acting,
  ): Promise<string> {
    const invited = await this.invitation(secret);
    if (!invited) throw new PageFault('badInvitation');
    const { name, tier } = invited;
    const stored = await this.credentials.stored(name, credential, 'known');
    await this.#store.host.transactShared(async (tx) => {
      const scope = { session: tx.session };
      const invitation = { _id: hashOf(secret), kind: 'Invitation' };
      const unused = await this.#store.documents.deleteOne(invitation, scope);
      if (unused.deletedCount === 0) throw new PageFault('badInvitation');
      await this.#store.accounts.createIn(tx, name, { tier });
      const isOpen = await this.#store.accounts.tokensChanged(tx.session, name);
      if (!isOpen) throw new PageFault('badInvitation');
      await this.#store.endSessions(tx.session, name);
      await this.credentials.replace(tx, name, stored, acting);
    });
    return name;
  }

  /**
   * Replaces all ways to sign in to the account of a mailed link, and ends its sessions.
   *
   * @param endsTokens whether its developer tokens and apps end, too
   * @throws PageFault
   */
  async recover(
    secret: string,
    credential: NewCredential,
    endsTokens: boolean,
    acting: Acting,
  ): Promise<void> {
    const { account } = await this.#links.find('Recovery', secret);
    const stored = await this.credentials.stored(account, credential, 'known');
    await this.#store.host.transact(account, async (own) => {
      const tx = own.as(acting);
      const { session, now } = tx;
      await this.#links.take(session, 'Recovery', secret);
      if (endsTokens) await this.#store.accounts.tokens.revokeAll(tx);
      await this.#store.endSessions(session, account);
      const audit = tx.audit.bind(tx);
      await this.credentials.replace({ session, now, audit }, account, stored, acting);
    });
  }

  /**
   * Creates an account under a name that the person chooses.
   *
   * @param client the address, whose budget it spends
   * @param within what else belongs to the transaction
   * @throws PageFault if the name is invalid or taken, or the password too weak
   */
  async signUp(
    name: string,
    credential: NewCredential,
    client: string,
    acting: Acting,
    within?: (tx: { session: ClientSession }) => Promise<void>,
  ): Promise<void> {
    if (!OWN_NAME.test(name)) throw new PageFault('badName');
    if (!(await this.#store.spend(`sign-up ${client}`, SIGN_UPS))) {
      throw new PageFault('tooManySignUps', 429, SIGN_UPS.seconds);
    }
    const stored = await this.credentials.stored(name, credential, 'stranger');
    await this.#store.host.transactShared(async (tx) => {
      const isNew = await this.#store.accounts.createIn(tx, name, {});
      if (!isNew) throw new PageFault('taken');
      await within?.(tx);
      await this.credentials.replace(tx, name, stored, acting);
    });
  }

  /**
   * Sets the password of a person who is signed in, and ends all sessions. Its budget is the account's
   * own: what strangers guess does not spend it.
   *
   * @throws PageFault if the current password is wrong, or the next one too weak
   */
  async setPassword(
    name: string,
    { now, next }: { now: string; next: string },
    acting: Acting,
  ): Promise<void> {
    await this.#spendTry(`password of ${name}`, TRIES);
    const stored = await this.credentials.find(name);
    const isRight =
      stored?.passwordHash === undefined || (await this.credentials.isPassword(name, now, 'known'));
    if (!isRight) throw new PageFault('wrongNow');
    await this.credentials.setPassword(name, next, acting);
  }
}
