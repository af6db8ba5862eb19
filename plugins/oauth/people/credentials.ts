import { accountTarget, type Acting } from '../../../src/data/audit/entry';
import { hashOf } from '../../../src/core/identity';
import type { SharedTransaction } from '../../../src/data/audit/audit-log';
import type { Transaction } from '../../../src/data/writing/transaction';
import type { Mails } from '../mail/mails';
import { PageFault } from '../pages/texts';
import { type CredentialDocument, credentialModel, type Passkey } from '../state/model';
import { publicId, type StateStore } from '../state/store';
import { hashOfPassword, isPassword, passwordFault, type Whose } from './passwords';

const MAX_PASSKEYS = 20;

/** A new way to sign in. */
export type NewCredential = { password: string } | { passkey: Passkey };

type Stored = Pick<CredentialDocument, 'passwordHash' | 'passkeys'>;

/** Passwords and passkeys. */
export class Credentials {
  readonly #store: StateStore;
  readonly #credentials;
  readonly #mails: Mails;

  constructor(store: StateStore, mails: Mails) {
    this.#store = store;
    this.#mails = mails;
    this.#credentials = store.host.model(credentialModel);
  }

  find(account: string): Promise<CredentialDocument | null> {
    return this.#credentials.findOne({ _id: account }).lean().exec();
  }

  /** A passkey by its id, and its account. */
  async passkey(id: string): Promise<{ account: string; passkey: Passkey } | undefined> {
    const found = await this.#credentials.findOne({ 'passkeys.id': id }).lean();
    const passkey = found?.passkeys?.find((each) => each.id === id);
    return found && passkey ? { account: found._id, passkey } : undefined;
  }

  /**
   * Whether a password is the account's; takes as long if it has none.
   *
   * @param before runs when the password's turn has come, such as to spend its budget
   * @throws PageFault if too many are waiting
   */
  isPassword(
    account: string,
    password: string,
    whose: Whose,
    before?: () => Promise<void>,
  ): Promise<boolean> {
    const stored = async (): Promise<string | undefined> => {
      await before?.();
      return (await this.find(account))?.passwordHash;
    };
    return isPassword(password, stored, whose);
  }

  /** Records the use of a passkey; returns false if it was used concurrently. */
  async noteUse({ id, counter }: Passkey, counted: number): Promise<boolean> {
    const $set = { 'passkeys.$.counter': counted, 'passkeys.$.lastUsedAt': new Date() };
    const unused = { passkeys: { $elemMatch: { id, counter } } };
    return (await this.#credentials.updateOne(unused, { $set })).matchedCount === 1;
  }

  /**
   * What is stored for a way to sign in.
   *
   * @throws PageFault if the password is too weak, or too many are waiting
   */
  async stored(account: string, credential: NewCredential, whose: Whose): Promise<Stored> {
    if ('passkey' in credential) return { passkeys: [credential.passkey] };
    return { passwordHash: await strongHash(credential.password, account, whose) };
  }

  /** Replaces all ways to sign in to an account. @throws PageFault */
  async replace(
    tx: SharedTransaction,
    account: string,
    stored: Stored,
    acting: Acting,
  ): Promise<void> {
    const scope = { session: tx.session };
    await this.#credentials.deleteOne({ _id: account }, scope);
    for (const passkey of stored.passkeys ?? []) await this.#refuseKnown(tx, passkey);
    await this.#credentials.create([{ _id: account, ...stored, createdAt: tx.now }], scope);
    const act = { action: 'credentials.set', target: accountTarget(account) };
    tx.audit(act, account, acting);
    await this.#mails.replaced(tx.session, account);
  }

  /** Sets the password, and ends all sessions. @throws PageFault if it is too weak */
  async setPassword(account: string, password: string, acting: Acting): Promise<void> {
    const passwordHash = await strongHash(password, account, 'known');
    await this.#store.host.transactShared(async (tx) => {
      const scope = { session: tx.session };
      const set = this.#credentials.updateOne({ _id: account }, { $set: { passwordHash } }, scope);
      // People who sign in at an issuer have none.
      if ((await set).matchedCount === 0) throw new PageFault('gone');
      await this.#store.endSessions(tx.session, account);
      const act = { action: 'credentials.set', target: accountTarget(account) };
      tx.audit(act, account, acting);
      await this.#mails.replaced(tx.session, account);
    });
  }

  /** @throws PageFault if there are too many, or the passkey is already known */
  async addPasskey(account: string, passkey: Passkey, acting: Acting): Promise<void> {
    await this.#store.host.transactShared(async (tx) => {
      await this.#refuseKnown(tx, passkey);
      const hasRoom = { _id: account, [`passkeys.${MAX_PASSKEYS - 1}`]: { $exists: false } };
      const update = { $push: { passkeys: passkey } };
      const { session } = tx;
      const added = await this.#credentials.updateOne(hasRoom, update, { session });
      if (added.matchedCount === 0) throw new PageFault('tooManyPasskeys', 403);
      tx.audit({ action: 'passkey.added', target: passkeyTarget(passkey.id) }, account, acting);
      await this.#mails.changed(session, account);
    });
  }

  /** @throws PageFault if there is none of this id, or it is the last way to sign in */
  async removePasskey(account: string, id: string, acting: Acting): Promise<void> {
    await this.#store.host.transactShared(async (tx) => {
      const { session } = tx;
      const own = { _id: account, 'passkeys.id': id };
      if (!(await this.#credentials.exists(own).session(session))) throw new PageFault('gone');
      const another = [{ passwordHash: { $exists: true } }, { 'passkeys.1': { $exists: true } }];
      const $pull = { passkeys: { id } };
      const other = { ...own, $or: another };
      const removed = await this.#credentials.updateOne(other, { $pull }, { session });
      if (removed.matchedCount === 0) throw new PageFault('lastWay');
      tx.audit({ action: 'passkey.removed', target: passkeyTarget(id) }, account, acting);
      await this.#mails.changed(session, account);
    });
  }

  count(account: string): Promise<number> {
    return this.#credentials.countDocuments({ _id: account }).exec();
  }

  /** The ways to sign in, without secrets. */
  async export(account: string): Promise<object[]> {
    const found = await this.find(account);
    const passkeys = found?.passkeys ?? [];
    return [
      ...(found?.passwordHash === undefined ? [] : [{ kind: 'password' }]),
      ...passkeys.map(({ name, createdAt, lastUsedAt }) => ({
        kind: 'passkey',
        name,
        createdAt,
        lastUsedAt,
      })),
    ];
  }

  async delete({ session, userId }: Pick<Transaction, 'session' | 'userId'>): Promise<void> {
    await this.#credentials.deleteOne({ _id: userId }, { session });
  }

  async #refuseKnown({ session }: SharedTransaction, { id }: Passkey): Promise<void> {
    if (await this.#credentials.exists({ 'passkeys.id': id }).session(session)) {
      throw new PageFault('badPasskey');
    }
  }
}

/** A passkey in the audit log. */
function passkeyTarget(id: string) {
  return { type: 'passkey', id: publicId(hashOf(id)) };
}

/** @throws PageFault if the password is too weak, or too many are waiting */
async function strongHash(password: string, name: string, whose: Whose): Promise<string> {
  const fault = await passwordFault(password, name);
  if (fault !== undefined) throw new PageFault(fault);
  return hashOfPassword(password, whose);
}
