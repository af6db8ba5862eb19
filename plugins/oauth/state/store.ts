import type { ClientSession } from 'mongoose';

import { isRecord } from '../../../src/core/values';
import { hashOf } from '../../../src/core/secrets';
import type { SharedTransaction } from '../../../src/data/audit/audit-log';
import type { Acting } from '../../../src/data/audit/entry';
import type { Transaction } from '../../../src/data/transaction';
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
  readonly records;

  constructor(
    readonly host: Host,
    readonly accounts: Accounts,
  ) {
    this.records = host.records(stateModel);
  }

  /** A document of a kind that is good still. */
  async find(kind: string, secret: string): Promise<StateDocument | undefined> {
    const found = await this.records.findOne({}, { _id: hashOf(secret), kind });
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
    const counted = await this.records.findOneAndUpdate(
      {},
      // The id alone: only so does MongoDB itself repeat what another was faster to insert.
      { _id: hashOf(`budget ${window} ${key}`) },
      {
        $inc: { spent: by },
        $setOnInsert: {
          kind: 'Budget',
          payload: '{}',
          createdAt: new Date(now),
          expiresAt: new Date((window + 1) * seconds * 1000),
        },
      },
      { upsert: true },
    );
    return (counted?.spent ?? 0) <= most;
  }

  /**
   * Ends a grant, and all that programs got by it, from the next request on.
   *
   * @param acting who does it, where it is not the program itself
   */
  async endGrant(grant: string, acting?: Acting): Promise<void> {
    await this.host.transactShared(async (tx) => {
      const found = await this.records.findOne({ session: tx.session }, { _id: grant });
      await this.records.deleteMany({ session: tx.session }, { $or: [{ _id: grant }, { grant }] });
      if (found?.userId === undefined) return;
      await this.accounts.tokensChanged(tx.session, found.userId);
      const target = { type: 'program', id: grantName(grant) };
      tx.audit({ action: 'program.revoked', target }, found.userId, acting);
    });
  }

  /** Ends all sessions of a person, within a transaction. */
  async endSessions(session: ClientSession, userId: string): Promise<void> {
    await this.records.deleteMany(
      { session },
      { userId, kind: { $in: ['Session', 'Invitation'] } },
    );
  }

  /** Takes away the access of one of a person's programs; returns whether it had any. */
  async endProgram(userId: string, id: string, acting: Acting): Promise<boolean> {
    const grants = await this.records.find({}, { userId, kind: 'Grant' });
    const grant = grants.find(({ _id }) => grantName(_id) === id);
    if (grant) await this.endGrant(grant._id, acting);
    return grant !== undefined;
  }

  /** What an account's programs may do. */
  async programs(userId: string): Promise<Program[]> {
    const grants = await this.records.find({}, { userId, kind: 'Grant' });
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

  count(userId: string): Promise<number> {
    return this.records.count({}, { userId });
  }

  /** Deletes all of an account, when the account itself is closed. */
  async deleteAll({ session, userId }: Pick<Transaction, 'session' | 'userId'>): Promise<void> {
    await this.records.deleteMany({ session }, { userId });
  }

  /** Writes what is kept under a secret, in place of what was there. */
  async put(
    { session }: Pick<SharedTransaction, 'session'> | { session?: ClientSession },
    secret: string,
    document: Omit<StateDocument, '_id' | 'createdAt'>,
  ): Promise<void> {
    const scope = session ? { session } : {};
    const update = { $set: document, $setOnInsert: { createdAt: new Date() } };
    await this.records.upsert(scope, { _id: hashOf(secret) }, update);
  }
}
