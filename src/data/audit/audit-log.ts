import type { ClientSession, QueryFilter } from 'mongoose';

import { forEachTried } from '../../core/each';
import { DAY_MS } from '../../core/time';
import { AccountHash } from '../accounts/account-hash';
import { batchesOf } from '../model/batches';
import type { Database } from '../mongodb/database';
import type { Fence } from '../schema/fence';
import { append, pruneChain, renameSome } from './chains';
import {
  type Act,
  type Acting,
  type AuditEntry,
  accountChain,
  accountOfChain,
  contentOf,
  SERVICE_CHAIN,
} from './entry';
import {
  type AuditEntryDocument,
  auditEntryModel,
  type AuditHeadDocument,
  auditHeadModel,
  entryIn,
} from './model';
import { type Verification, verifyChains } from './verify';

/** A transaction on data that no account owns. */
export interface SharedTransaction {
  readonly session: ClientSession;
  readonly now: Date;
  /** Records an act in the chain of an account, or of the service, before the commit. */
  audit(act: Act, userId?: string, acting?: Acting): void;
}

export interface Recorded {
  time: Date;
  act: Act;
  acting: Acting;
}

/** Which entries to read; all by default. */
export interface AuditFilter {
  userId?: string | undefined;
  /** Includes deleted accounts of this name, whose entries are under a pseudonym. */
  withDeleted?: boolean;
  /** Includes what others did in the garden of the account. */
  withGuests?: boolean;
  /** An account, the id of a token, or the name of an operator. */
  actor?: string | undefined;
  /** `token.created`, or `token` for all that begin with it. */
  action?: string | undefined;
  since?: Date | undefined;
}

/**
 * The audit log (docs/running.md, "Audit log"). An act is recorded in the transaction that performs it.
 * Entries are only deleted by {@link prune}, and only changed by {@link anonymize}.
 */
export class AuditLog {
  readonly #entries;
  readonly #heads;
  readonly #database: Database;
  readonly #fence: Fence;
  #accountHash: Promise<AccountHash> | undefined;

  /** @param self the default actor */
  constructor(
    database: Database,
    fence: Fence,
    readonly self: Acting,
  ) {
    this.#database = database;
    this.#fence = fence;
    this.#entries = database.model(auditEntryModel);
    this.#heads = database.model(auditHeadModel);
  }

  /** Records an act without a transaction, in the chain of the service. */
  async record(act: Act): Promise<void> {
    await this.transact(async (tx) => {
      tx.audit(act);
    });
  }

  /** Runs a write to shared data, or one that creates or deletes an account, and records its acts. */
  async transact<T>(work: (tx: SharedTransaction) => Promise<T>): Promise<T> {
    this.#fence.require();
    return this.#database.transaction(async (session) => {
      const now = new Date();
      const chains = new Map<string, Recorded[]>();
      const value = await work({
        session,
        now,
        audit: (act, userId, acting = this.self) => {
          const chain = userId === undefined ? SERVICE_CHAIN : accountChain(userId);
          chains.set(chain, [...(chains.get(chain) ?? []), { time: now, act, acting }]);
        },
      });
      await this.append(session, chains);
      await this.#fence.look();
      return value;
    });
  }

  /** Appends to chains. Transactions that append to the same chain conflict on its head. */
  async append(
    session: ClientSession,
    chains: ReadonlyMap<string, readonly Recorded[]>,
  ): Promise<void> {
    const contents = [...chains].map(([chain, recorded]) => {
      const list = recorded.map(({ time, act, acting }) => contentOf(time, act, acting));
      return [chain, list] as const;
    });
    await append(this.#chains(session), new Map(contents));
  }

  /** Entries by time, or those of one account in the order of its chain; a batch at a time. */
  async *entries(filter: AuditFilter = {}): AsyncGenerator<AuditEntry[]> {
    const order: Record<string, 1> =
      filter.userId === undefined ? { time: 1, _id: 1 } : { chain: 1, seq: 1 };
    const { userId, actor, withDeleted } = filter;
    const names = async (name: string | undefined): Promise<string[]> => {
      if (name === undefined) return [];
      return withDeleted === true ? [name, await this.#pseudonym(name)] : [name];
    };
    const whose = { userIds: await names(userId), actors: await names(actor) };
    const found = this.#entries.find(filterOf(filter, whose)).sort(order);
    for await (const batch of batchesOf<AuditEntryDocument>(found)) yield batch.map(entryIn);
  }

  /** The end of each chain, and what was pruned from it, a batch at a time. */
  async *ends(): AsyncGenerator<object[]> {
    const found = this.#heads.find().sort({ _id: 1 });
    for await (const batch of batchesOf<AuditHeadDocument>(found)) {
      yield batch.map(({ _id: chain, ...end }) => ({ chain, ...end }));
    }
  }

  /**
   * Replaces the id of a deleted account in its entries with a pseudonym.
   *
   * @returns the pseudonym, once no entries are left; call it again in another transaction until then
   */
  async anonymize(session: ClientSession, userId: string): Promise<string | undefined> {
    const pseudonym = await this.#pseudonym(userId);
    const isDone = await renameSome(this.#chains(session), userId, pseudonym);
    return isDone ? pseudonym : undefined;
  }

  #chains(session: ClientSession) {
    return { entries: this.#entries, heads: this.#heads, session };
  }

  /** It depends on a key in the database, so a log that is kept elsewhere does not identify people. */
  async #pseudonym(userId: string): Promise<string> {
    this.#accountHash ??= AccountHash.open(this.#database);
    return `deleted-${(await this.#accountHash).of(userId)}`;
  }

  /**
   * Finds entries that were removed, altered or inserted.
   *
   * @param onChains called with how many chains were verified, and how many there are
   */
  verify(onChains?: (verified: number, total: number) => void): Promise<Verification> {
    return verifyChains(this.#database, this.#entries, this.#heads, onChains);
  }

  /** Deletes entries older than `keepDays`, and keeps what is needed to verify the rest. */
  async prune(keepDays: number, stopping?: AbortSignal): Promise<void> {
    const before = new Date(Date.now() - keepDays * DAY_MS);
    const chains = this.#entries.aggregate<{ _id: string }>([
      { $match: { time: { $lt: before } } },
      { $group: { _id: '$chain' } },
    ]);
    const isOver = (): boolean => stopping?.aborted === true;
    await forEachTried(
      chains,
      async ({ _id: chain }) => {
        let isDone = false;
        while (!isDone && !isOver()) {
          isDone = await this.transact(({ session }) =>
            pruneChain(this.#chains(session), chain, before),
          );
        }
      },
      { accountOf: ({ _id: chain }) => accountOfChain(chain), isOver },
    );
  }
}

function filterOf(
  { action, since, withGuests }: AuditFilter,
  { userIds, actors }: { userIds: string[]; actors: string[] },
): QueryFilter<AuditEntryDocument> {
  const conditions: QueryFilter<AuditEntryDocument>[] = [];
  if (userIds.length > 0) {
    const own = { chain: { $in: userIds.map(accountChain) } };
    conditions.push(
      withGuests === true ? { $or: [own, { 'actor.garden': { $in: userIds } }] } : own,
    );
  }
  if (action !== undefined) {
    // A range of names that begin with the action: `/` comes right after `.`.
    conditions.push({ $or: [{ action }, { action: { $gte: `${action}.`, $lt: `${action}/` } }] });
  }
  if (actors.length > 0) {
    const fields = ['account', 'token', 'name'].map((field) => `actor.${field}`);
    const names = fields.map((field) => ({ [field]: { $in: actors } }));
    conditions.push({ $or: names });
  }
  if (since !== undefined) conditions.push({ time: { $gte: since } });
  return conditions.length === 0 ? {} : { $and: conditions };
}
