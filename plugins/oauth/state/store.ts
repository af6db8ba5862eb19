import type { ClientSession } from 'mongoose';

import { isRecord } from '../../../src/core/values';
import { hashOf } from '../../../src/core/secrets';
import type { Acting } from '../../../src/data/audit/entry';
import type { Host } from '../../../src/plugins/host';
import type { Accounts } from '../../accounts';
import { type StateDocument, stateModel } from './model';

/** The id of a grant by which people and the audit log name it: the form of a UUID. */
export function grantName(hash: string): string {
  const hex = Buffer.from(hash, 'base64url').toString('hex');
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The scopes of a parameter that lists them, whatever else it may be. */
export function scopesIn(list: unknown): string[] {
  return typeof list === 'string' ? list.split(' ') : [];
}

/** What a document holds. */
export function payloadOf({ payload }: StateDocument): Record<string, unknown> {
  const value: unknown = JSON.parse(payload);
  return isRecord(value) ? value : {};
}

/** A program that a person let have access, as that person sees it. */
export interface Program {
  id: string;
  name: string;
  scopes: string[];
  since: Date;
}

/** All that the authorization server keeps, and how it goes with the accounts. */
export class StateStore {
  readonly documents;

  constructor(
    readonly host: Host,
    readonly accounts: Accounts,
  ) {
    this.documents = host.model(stateModel);
  }

  /** A document of a kind that is good still. */
  async find(kind: string, secret: string): Promise<StateDocument | undefined> {
    const found = await this.documents.findOne({ _id: hashOf(secret), kind }).lean();
    // MongoDB deletes what has expired some time later.
    return found && found.expiresAt > new Date() ? found : undefined;
  }

  /**
   * Spends one call of a budget that all processes share; returns whether it had one left.
   *
   * @param key whose budget and for what; only a hash of it is kept
   * @param by -1 gives a call back
   */
  async spend(
    key: string,
    { most, seconds }: { most: number; seconds: number },
    by = 1,
  ): Promise<boolean> {
    const now = Date.now();
    const window = Math.floor(now / (seconds * 1000));
    // The id alone: only so does MongoDB itself repeat what another was faster to insert.
    const budget = { _id: hashOf(`budget ${window} ${key}`) };
    const expiresAt = new Date((window + 1) * seconds * 1000);
    const made = { kind: 'Budget', payload: '{}', createdAt: new Date(now), expiresAt };
    const update = { $inc: { spent: by }, $setOnInsert: made };
    const options = { upsert: true, returnDocument: 'after' } as const;
    const counted = await this.documents.findOneAndUpdate(budget, update, options).lean();
    return (counted.spent ?? 0) <= most;
  }

  /**
   * Ends a grant, and all that programs got by it, from the next request on.
   *
   * @param acting who does it, where it is not the program itself
   */
  async endGrant(grant: string, acting?: Acting): Promise<void> {
    await this.host.transactShared(async (tx) => {
      const { session } = tx;
      const found = await this.documents.findOne({ _id: grant }).session(session).lean();
      await this.documents.deleteMany({ $or: [{ _id: grant }, { grant }] }, { session });
      if (found?.userId === undefined) return;
      await this.accounts.tokensChanged(session, found.userId);
      const target = { type: 'program', id: grantName(grant) };
      tx.audit({ action: 'program.revoked', target }, found.userId, acting);
    });
  }

  /** Ends all sessions of a person, within a transaction. */
  async endSessions(session: ClientSession, userId: string): Promise<void> {
    const ofPerson = { userId, kind: { $in: ['Session', 'Invitation'] } };
    await this.documents.deleteMany(ofPerson, { session });
  }

  /** Takes away the access of one of a person's programs; returns whether it had any. */
  async endProgram(userId: string, id: string, acting: Acting): Promise<boolean> {
    const grants = await this.documents.find({ userId, kind: 'Grant' }).lean();
    const grant = grants.find(({ _id }) => grantName(_id) === id);
    if (grant) await this.endGrant(grant._id, acting);
    return grant !== undefined;
  }

  /** What an account's programs may do. */
  async programs(userId: string): Promise<Program[]> {
    const grants = await this.documents.find({ userId, kind: 'Grant' }).lean();
    const good = grants.filter(({ expiresAt }) => expiresAt > new Date());
    return Promise.all(
      good.map(async (grant) => {
        const { clientId, resources } = payloadOf(grant);
        const granted = isRecord(resources) ? Object.values(resources).join(' ') : '';
        const client = await this.find('Client', String(clientId));
        const name = client && payloadOf(client)['client_name'];
        return {
          id: grantName(grant._id),
          name: typeof name === 'string' ? name : String(clientId),
          scopes: [...new Set(granted.split(' '))],
          since: grant.createdAt,
        };
      }),
    );
  }

  /** How many documents an account has: sessions, or all others. */
  count(userId: string, ofSessions: boolean): Promise<number> {
    const kind = ofSessions ? 'Session' : { $ne: 'Session' };
    return this.documents.countDocuments({ userId, kind }).exec();
  }

  /** Deletes everything of an account. */
  async deleteAll(userId: string, session?: ClientSession): Promise<void> {
    await this.documents.deleteMany({ userId }).session(session ?? null);
  }

  /** Writes what is kept under a secret, in place of what was there. */
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
