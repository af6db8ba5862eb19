import { type ClientSession, mongo } from 'mongoose';

import { forEachTried, PartialFailure } from '../../src/core/each';
import { type Account, isBackend } from '../../src/core/identity';
import { asUuid, type StoredId } from '../../src/core/ids';
import { chunksOf } from '../../src/core/values';
import { isConnectionError } from '../../src/data/mongodb/errors';
import type { Lease } from '../../src/data/schema/lease';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import type { Job } from '../../src/plugins/plugin';
import { type Accounts, isLost, type RevisionStream } from '../accounts';
import { type Deliveries, type Delivery, eventBody, eventId, newDelivery } from '../deliveries';
import { CHANGED, CHANGES_JOB, progressModel } from './model';

/** The least time between two of an account. */
const SPACED_MS = 5000;
const ACCOUNTS_PER_READ = 1000;
/** How long one process reads before it gives up the lease. */
const TURN_MS = 60_000;

/** The account of a change, and what is sent of it. */
export interface Told {
  userId: string;
  deliveries: Delivery[];
  through: Deliveries;
}

/** Some who are told of changes of accounts. */
export interface Subscribers {
  /** Whether there are any, apart from one. */
  areAny(session?: ClientSession, except?: StoredId): Promise<boolean>;
  /** What is sent to them of the changes of some accounts. */
  told(changed: readonly Account[]): Promise<Told[]>;
}

/**
 * What a subscriber is sent of a change.
 *
 * @param to its id
 * @param route what a webhook does not have
 */
export function changeOf(
  to: StoredId,
  { id: userId, createdAt: since, revision }: Account,
  route: Partial<Delivery> = {},
): Delivery {
  const event = { type: CHANGED, userId, since, revision, createdAt: new Date() };
  const _id = eventId(to, event, String(revision));
  const body = eventBody(event, { revision });
  const own = { webhookId: asUuid(to), spacedMs: SPACED_MS };
  return newDelivery({ ...event, _id, body, ...own, ...route });
}

/**
 * Records `account.changed`. It reads the changes from MongoDB's own log, so that a write costs nothing more,
 * and continues where it or another process stopped.
 */
export class AccountChanges {
  readonly #host: Host;
  readonly #accounts: Accounts;
  readonly #progress;
  readonly #lease: Lease;
  readonly #subscribers: Subscribers[] = [];

  constructor(host: Host, accounts: Accounts) {
    this.#host = host;
    this.#accounts = accounts;
    this.#progress = host.model(progressModel);
    this.#lease = host.lease(CHANGES_JOB);
  }

  subscribe(subscribers: Subscribers): void {
    this.#subscribers.push(subscribers);
  }

  /** Lets changes be read from now on, unless they are read for others than a new subscriber already. */
  async begin({ session, now }: Transaction, subscriber: StoredId): Promise<void> {
    if (await this.#areAny(session, subscriber)) return;
    // By the clock of MongoDB, and after all that this transaction sees.
    const { operationTime: seen } = session;
    const startAtOperationTime = seen && new mongo.Timestamp({ t: seen.t, i: seen.i + 1 });
    const $set = {
      until: now,
      ...(startAtOperationTime && { position: { startAtOperationTime } }),
    };
    await this.#progress.updateOne({ _id: CHANGES_JOB }, { $set }, { session, upsert: true });
  }

  get job(): Job {
    return {
      name: CHANGES_JOB,
      everySeconds: 1,
      run: async (stopping) => {
        if (!(await this.#areAny())) return true;
        const endsAt = performance.now() + TURN_MS;
        const lease = this.#lease;
        return lease.try(() =>
          this.#read(() => stopping.aborted || performance.now() >= endsAt || !lease.lasts(0)),
        );
      },
    };
  }

  async #areAny(session?: ClientSession, except?: StoredId): Promise<boolean> {
    for (const each of this.#subscribers) if (await each.areAny(session, except)) return true;
    return false;
  }

  /** Subscribers are read here, so that one who subscribed before a change is among them. */
  async #announce(ids: readonly string[]): Promise<void> {
    const people = await this.#accounts.lists.open(ids.filter((id) => !isBackend(id)));
    const told: Told[] = [];
    for (const each of this.#subscribers) told.push(...(await each.told(people)));
    const tell = ({ through, deliveries }: Told) => through.replace(deliveries);
    await forEachTried(told, tell, { accountOf: ({ userId }) => userId });
  }

  async #readFrom(stream: RevisionStream, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const changed = await stream.next(ACCOUNTS_PER_READ);
      if (!(await this.#areAny())) return;
      let failure: PartialFailure | undefined;
      try {
        await this.#announce([...changed]);
      } catch (error) {
        if (!(error instanceof PartialFailure) || isConnectionError(error.cause)) throw error;
        // An account that fails delays no other; its next change tells of this one, too.
        failure = error;
      }
      await this.#keep(stream);
      if (failure) throw failure;
    }
  }

  /** Announces all accounts: any may have changed. */
  async #readAnew(isOver: () => boolean): Promise<void> {
    const stream = this.#accounts.lists.revisions();
    try {
      // It begins before the accounts are read.
      const changed = await stream.next(ACCOUNTS_PER_READ);
      const ids = (await this.#accounts.lists.accounts()).map(({ id }) => id);
      for (const some of chunksOf([...changed, ...ids], ACCOUNTS_PER_READ)) {
        if (isOver()) return;
        await this.#announce(some);
      }
      await this.#keep(stream);
    } finally {
      await stream.close();
    }
  }

  async #read(isOver: () => boolean): Promise<void> {
    const { position } = (await this.#progress.findOne({ _id: CHANGES_JOB }).lean()) ?? {};
    const stream = this.#accounts.lists.revisions(position);
    try {
      await this.#readFrom(stream, isOver);
    } catch (error) {
      if (!isLost(error)) throw error;
      this.#host.log.warn('The changes of accounts were not read for too long; all are announced');
      await this.#readAnew(isOver);
    } finally {
      await stream.close();
    }
  }

  /** Stores the position, from which the next turn continues. */
  async #keep({ position }: RevisionStream): Promise<void> {
    const $set = { until: new Date(), position };
    await this.#progress.updateOne({ _id: CHANGES_JOB }, { $set });
  }
}
