import type { ClientSession } from 'mongoose';

import { isRecord } from '../../../src/core/values';
import { boundGarden } from '../../../src/core/gardens';
import { type Binding, hashOf } from '../../../src/core/identity';
import type { Act, Acting } from '../../../src/data/audit/entry';
import type { Transaction } from '../../../src/data/writing/transaction';
import type { Host } from '../../../src/plugins/host';
import type { Accounts } from '../../accounts';
import { shownName } from '../server/client-name';
import { type StateDocument, stateModel } from './model';

type Tokens = Accounts['tokens'];

/** The public id, in the form of a UUID, for the hash of a secret id. */
export function publicId(hash: string): string {
  const hex = Buffer.from(hash, 'base64url').toString('hex');
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** An authorized app in the audit log, by the hash of its grant. */
export function appTarget(grant: string) {
  return { type: 'program', id: publicId(grant) };
}

/** The scopes in a space-separated list; none if the value is no string. */
export function scopesIn(list: unknown): string[] {
  return typeof list === 'string' ? list.split(' ') : [];
}

/** The payload of a document. */
export function payloadOf({ payload }: StateDocument): Record<string, unknown> {
  const value: unknown = JSON.parse(payload);
  return isRecord(value) ? value : {};
}

/** Kinds of documents that are valid only while their grant is. */
export const KINDS_OF_GRANT = ['AccessToken', 'RefreshToken', 'AuthorizationCode'];

const ENDED_WITH_SESSIONS = ['Session', 'Invitation', 'Link', 'Device', 'Confirmation', 'Recovery'];

/** How many calls may be spent in how many seconds. */
export interface Budget {
  most: number;
  seconds: number;
}

/** The window of a budget at a moment. */
function windowOf(key: string, { seconds }: Budget, at: Date): { _id: string; expiresAt: Date } {
  const window = Math.floor(at.getTime() / (seconds * 1000));
  const expiresAt = new Date((window + 1) * seconds * 1000);
  return { _id: hashOf(`budget ${window} ${key}`), expiresAt };
}

/** An app that a person has authorized. */
export interface AuthorizedApp {
  id: string;
  client: string;
  name: string;
  scopes: string[];
  since: Date;
  /** The owner of the only garden that it may open. */
  garden?: string;
}

/** The state of the authorization server. */
export class StateStore {
  readonly documents;

  constructor(
    readonly host: Host,
    readonly accounts: Accounts,
  ) {
    this.documents = host.model(stateModel);
  }

  /** The valid document of a kind and secret. */
  async find(kind: string, secret: string): Promise<StateDocument | undefined> {
    const found = await this.documents.findOne({ _id: hashOf(secret), kind }).lean();
    // MongoDB deletes expired documents with a delay.
    return found && found.expiresAt > new Date() ? found : undefined;
  }

  /** The same, which then is no more. */
  take(kind: string, secret: string, session?: ClientSession): Promise<StateDocument | null> {
    const valid = { _id: hashOf(secret), kind, expiresAt: { $gt: new Date() } };
    const taken = this.documents.findOneAndDelete(valid);
    return taken
      .session(session ?? null)
      .lean()
      .exec();
  }

  /**
   * Spends one call of a budget that all processes share.
   *
   * @param key what the budget is for, and whose it is; only its hash is stored
   * @returns whether the call is within the budget
   */
  async spend(key: string, budget: Budget, now = new Date()): Promise<boolean> {
    // MongoDB retries an upsert after a duplicate key only if the filter is the id alone.
    const { _id, expiresAt } = windowOf(key, budget, now);
    const made = { kind: 'Budget', payload: '{}', createdAt: now, expiresAt };
    const update = { $inc: { spent: 1 }, $setOnInsert: made };
    const options = { upsert: true, returnDocument: 'after' } as const;
    const counted = await this.documents.findOneAndUpdate({ _id }, update, options).lean();
    return (counted.spent ?? 0) <= budget.most;
  }

  /** Returns the call that was spent at a moment; the budget of a later window gains nothing. */
  async giveBack(key: string, budget: Budget, spentAt: Date): Promise<void> {
    const { _id } = windowOf(key, budget, spentAt);
    await this.documents.updateOne({ _id }, { $inc: { spent: -1 } });
  }

  /**
   * Revokes a grant and its tokens.
   *
   * @param acting who revokes it; the client itself if left out
   */
  async endGrant(grant: string, acting?: Acting): Promise<void> {
    await this.host.transactShared(async (tx) => {
      const { session } = tx;
      const found = await this.documents.findOne({ _id: grant }).session(session).lean();
      await this.documents.deleteMany({ $or: [{ _id: grant }, { grant }] }, { session });
      if (found?.userId === undefined) return;
      const { userId } = found;
      const audit = (act: Act): void => {
        tx.audit(act, userId, acting);
      };
      await this.#ended([grant], { session, userId, now: tx.now, audit });
    });
  }

  /** Binds a grant to a garden. */
  async bind(grant: string, garden: Binding): Promise<void> {
    await this.documents.updateOne({ _id: grant, kind: 'Grant' }, { $set: { garden } });
  }

  /** The garden to which a grant is bound, if it is. */
  async gardenOf(grant: string): Promise<Binding | undefined> {
    return (await this.documents.findOne({ _id: grant, kind: 'Grant' }, 'garden').lean())?.garden;
  }

  /** Whether the garden of a grant is open to its person. */
  async isOpen({ garden, userId = '' }: StateDocument): Promise<boolean> {
    return !garden || (await boundGarden(garden, userId, this.host.gardens())) !== null;
  }

  /** When a grant ends unless its app is used; undefined if it has ended. */
  async grantEnd(grant: string, session?: ClientSession): Promise<Date | undefined> {
    const open = { _id: grant, kind: 'Grant', expiresAt: { $gt: new Date() } };
    return (
      await this.documents
        .findOne(open)
        .session(session ?? null)
        .lean()
    )?.expiresAt;
  }

  /** Records the end of grants, with which the tokens that their apps created end. */
  async #ended(grants: readonly string[], tx: Parameters<Tokens['endWith']>[1]): Promise<void> {
    await this.accounts.tokensChanged(tx.session, tx.userId);
    for (const grant of grants) tx.audit({ action: 'program.revoked', target: appTarget(grant) });
    await this.accounts.tokens.endWith(grants, tx);
  }

  /** The ids of an account's documents of a kind but its newest ones. */
  async allButNewest(
    newest: number,
    userId: string,
    kind: string,
    session?: ClientSession,
  ): Promise<string[]> {
    const found = this.documents.find({ userId, kind }).sort({ createdAt: -1 }).skip(newest);
    return (await found.session(session ?? null).lean()).map(({ _id }) => _id);
  }

  /** Ends the sessions, invitations and links of an account; its browsers become strangers. */
  async endSessions(session: ClientSession, userId: string): Promise<void> {
    const ofPerson = { userId, kind: { $in: ENDED_WITH_SESSIONS } };
    await this.documents.deleteMany(ofPerson, { session });
  }

  /** Revokes an authorized app; returns whether there was one of this id. */
  async revokeApp(userId: string, id: string, acting: Acting): Promise<boolean> {
    const grants = await this.documents.find({ userId, kind: 'Grant' }).lean();
    const grant = grants.find(({ _id }) => publicId(_id) === id);
    if (grant) await this.endGrant(grant._id, acting);
    return grant !== undefined;
  }

  /** Revokes all authorized apps of the account of `tx`. */
  async revokeApps(tx: Transaction): Promise<void> {
    const { session, userId } = tx;
    const grants = await this.documents.find({ userId, kind: 'Grant' }).session(session).lean();
    if (grants.length === 0) return;
    const kind = { $in: ['Grant', ...KINDS_OF_GRANT] };
    await this.documents.deleteMany({ userId, kind }, { session });
    await this.#ended(
      grants.map(({ _id }) => _id),
      tx,
    );
  }

  /** The apps that an account has authorized. */
  async authorizedApps(userId: string): Promise<AuthorizedApp[]> {
    const grants = await this.documents.find({ userId, kind: 'Grant' }).lean();
    const good = grants.filter(({ expiresAt }) => expiresAt > new Date());
    const apps = await Promise.all(
      good.map(async (grant) => {
        if (!(await this.isOpen(grant))) return [];
        const { clientId, resources } = payloadOf(grant);
        const granted = isRecord(resources) ? Object.values(resources).join(' ') : '';
        const client = await this.find('Client', String(clientId));
        const name = client && payloadOf(client)['client_name'];
        return {
          id: publicId(grant._id),
          client: String(clientId),
          name: shownName(name) ?? String(clientId),
          scopes: [...new Set(granted.split(' '))],
          since: grant.createdAt,
          ...(grant.garden && { garden: grant.garden.owner }),
        };
      }),
    );
    return apps.flat();
  }

  /** How many documents of some kinds an account has. */
  count(userId: string, kind: string | { $ne: string }): Promise<number> {
    return this.documents.countDocuments({ userId, kind }).exec();
  }

  /** Deletes the state of an account. */
  async deleteAll(userId: string, session?: ClientSession): Promise<void> {
    await this.documents.deleteMany({ userId }).session(session ?? null);
  }

  /** Inserts or replaces the document of a secret. */
  async put(
    { session }: { session?: ClientSession },
    secret: string,
    document: Omit<StateDocument, '_id' | 'createdAt'>,
  ): Promise<void> {
    const update = { $set: document, $setOnInsert: { createdAt: new Date() } };
    const put = this.documents.updateOne({ _id: hashOf(secret) }, update, { upsert: true });
    await put.session(session ?? null);
  }
}
