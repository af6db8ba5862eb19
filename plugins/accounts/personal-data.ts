import { invalidToken, OperatorError } from '../../src/core/errors';
import { forEachTried } from '../../src/core/each';
import { unlessGone } from '../../src/core/identity';
import { jsonArray } from '../../src/core/text/json';
import { isRecord } from '../../src/core/values';
import { accountTarget, type Acting } from '../../src/data/audit/entry';
import type { Lease } from '../../src/data/schema/lease';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import type { Job } from '../../src/plugins/plugin';
import { accountClosed } from './domain-events';
import {
  accountModel,
  type AccountDocument,
  newTokensVersion,
  NOT_DELETED,
  PREFERENCES,
  tokenModel,
} from './model';
import { asView } from './tokens/views';

/** Numbers of records, by collection. */
export type Counts = Readonly<Record<string, number>>;

/** Data of an account that another plugin keeps in shared collections. */
export interface KeptData {
  /** Its name in an export. */
  name: string;
  count(userId: string): Promise<number>;
  /** What the person may see, in batches. */
  export(userId: string): AsyncIterable<object[]>;
  /** Deletes it in the transaction that closes the account. */
  delete?(tx: Transaction): Promise<void>;
  /** Deletes it after the account was closed, for what is too much for a transaction. */
  erase?(userId: string): Promise<void>;
}

/** The format of an export (docs/running.md, "People's data"). */
const EXPORT_FORMAT = { format: 'plant-care-api account export', version: 1 };

/** Accounts that are being deleted. */
const CLOSED = { deletingSince: { $exists: true } };

/** Exports and deletes all data of an account. */
export class PersonalData {
  readonly #accounts;
  readonly #tokens;
  readonly #kept: KeptData[] = [];
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
    this.#accounts = host.model(accountModel);
    this.#tokens = host.model(tokenModel);
  }

  /** Adds data of another plugin to counts, exports and deletions. */
  keep(kept: KeptData): void {
    this.#kept.push(kept);
  }

  /** Numbers of records of an account, itself included; undefined if it does not exist. */
  async counts(userId: string): Promise<Counts | undefined> {
    return (await this.#accounts.exists({ _id: userId })) ? this.#count(userId) : undefined;
  }

  /**
   * Exports all data of an account as JSON, without the hashes of tokens. Each record
   * is as it is when it is read.
   *
   * @param acting who exports it; an operator if left out
   * @returns the JSON in pieces; undefined if there is no such account
   */
  async exportUser(userId: string, acting?: Acting): Promise<AsyncGenerator<string> | undefined> {
    const account = await this.#accounts.findOne({ _id: userId }).lean();
    if (!account) return undefined;
    await this.#host.transactShared(async (tx) => {
      tx.audit({ action: 'account.exported', target: accountTarget(userId) }, userId, acting);
    });
    return this.#export(account);
  }

  /**
   * Deletes all data of an account. Calling it again finishes an interrupted deletion.
   *
   * @param onDeleted receives the number of records deleted since its last call
   * @throws OperatorError if anything is left, which is a bug
   */
  async deleteUser(userId: string, onDeleted: (count: number) => void): Promise<void> {
    await unlessGone(this.#host.transact(userId, (tx) => this.close(tx)));
    const turn = this.#turn();
    await turn.hold(
      () => this.#finish(turn, userId, onDeleted),
      () => undefined,
    );
  }

  /**
   * Closes the account of `tx`: its tokens are refused, and nothing is written to it any more.
   *
   * @throws ApiError invalid_token if it is closed already
   */
  async close(tx: Transaction): Promise<void> {
    const { session, userId, now: deletingSince } = tx;
    const records = await this.#count(userId);
    const $set = { deletingSince, tokensVersion: newTokensVersion() };
    const open = { _id: userId, ...NOT_DELETED };
    const closed = await this.#accounts.updateOne(open, { $set }, { session });
    if (closed.matchedCount === 0) throw invalidToken.error();
    await this.#tokens.deleteMany({ userId }, { session });
    for (const kept of this.#kept) await kept.delete?.(tx);
    const target = accountTarget(userId);
    tx.audit({ action: 'account.deletion_begun', target, changes: { records } });
    await tx.emit(accountClosed, { userId });
  }

  /** Deletes the data of closed accounts. */
  get job(): Job {
    return {
      name: 'deletion of closed accounts',
      everySeconds: 1,
      run: async (stopping) => {
        const closed = await this.#accounts.find(CLOSED).select('_id').lean();
        if (closed.length === 0) return true;
        const turn = this.#turn();
        const finish = ({ _id: userId }: { _id: string }) => this.#finish(turn, userId);
        return turn.try(() =>
          forEachTried(closed, finish, {
            accountOf: ({ _id: userId }) => userId,
            isOver: () => stopping.aborted || !turn.lasts(0),
          }),
        );
      },
    };
  }

  /**
   * Only one process deletes at a time: a slower one would delete the data of a new account of the same
   * name.
   */
  #turn(): Lease {
    return this.#host.lease('deletion of closed accounts');
  }

  /** @throws OperatorError if another process may have taken the turn, as after a suspension */
  async #finish(
    turn: Lease,
    userId: string,
    onDeleted: (count: number) => void = () => undefined,
  ): Promise<void> {
    const requireTurn = (): void => {
      if (!turn.lasts(0)) throw new OperatorError('The deletion was interrupted; it is continued.');
    };
    if (!(await this.#accounts.exists({ _id: userId, ...CLOSED }))) return;
    requireTurn();
    await this.#host.accountData.delete(userId, (count) => {
      onDeleted(count);
      requireTurn();
    });
    for (const kept of this.#kept) {
      requireTurn();
      await kept.erase?.(userId);
    }
    while (!(await this.#end(userId)));
    const left = Object.entries(await this.#count(userId)).filter(([, count]) => count > 0);
    if (left.length === 0) return;
    const records = left.map(([name, count]) => `${count} of ${name}`).join(', ');
    throw new OperatorError(`Not all data of the account was deleted; left are ${records}.`);
  }

  /** Anonymizes the audit log, then deletes the account itself; returns whether it is done. */
  #end(userId: string): Promise<boolean> {
    return this.#host.transactShared(async (tx) => {
      const { session } = tx;
      const closed = { _id: userId, ...CLOSED };
      if (!(await this.#accounts.exists(closed).session(session))) return true;
      const pseudonym = await this.#host.audit.anonymize(session, userId);
      if (pseudonym === undefined) return false;
      const { deletedCount } = await this.#accounts.deleteOne(closed, { session });
      const act = { action: 'account.deleted', target: accountTarget(pseudonym) };
      if (deletedCount === 1) tx.audit(act, pseudonym);
      return true;
    });
  }

  async #count(userId: string): Promise<Counts> {
    return {
      accounts: await this.#accounts.countDocuments({ _id: userId }),
      tokens: await this.#tokens.countDocuments({ userId }),
      ...Object.fromEntries(
        await Promise.all(
          this.#kept.map(async (kept) => [kept.name, await kept.count(userId)] as const),
        ),
      ),
      ...(await this.#host.accountData.counts(userId)),
    };
  }

  async *#export(account: AccountDocument): AsyncGenerator<string> {
    const { _id: userId, ...fields } = account;
    const tokens = await this.#tokens.find({ userId }).sort({ createdAt: 1 }).lean();
    const head = {
      ...EXPORT_FORMAT,
      exportedAt: new Date(),
      account: { id: userId, ...PREFERENCES, ...fields },
      tokens: tokens.map(asView),
    };
    yield `${JSON.stringify(head).slice(0, -1)},"records":{`;
    let separator = '';
    for (const [collection, batches] of this.#host.accountData.records(userId)) {
      yield `${separator}${JSON.stringify(collection)}:`;
      yield* jsonArray(withIds(batches));
      separator = ',';
    }
    for (const kept of this.#kept) {
      yield `${separator}${JSON.stringify(kept.name)}:`;
      yield* jsonArray(kept.export(userId));
      separator = ',';
    }
    yield '},"auditLog":';
    yield* jsonArray(this.#host.audit.entries({ userId }));
    yield '}';
  }
}

async function* withIds(batches: AsyncIterable<object[]>): AsyncGenerator<object[]> {
  for await (const batch of batches) {
    yield batch.map((record) => {
      if (!isRecord(record)) return record;
      const { _id: id, ...fields } = record;
      return { id, ...fields };
    });
  }
}
