import { forEachTried, PartialFailure } from '../../src/core/each';
import { type Account, isBackend } from '../../src/core/identity';
import { chunksOf } from '../../src/core/values';
import { isConnectionError } from '../../src/data/mongodb/errors';
import type { Host } from '../../src/plugins/host';
import type { Job } from '../../src/plugins/plugin';
import { type Accounts, isLost, type RevisionStream } from '../accounts';
import { type Deliveries, eventId } from '../deliveries';
import { CHANGED, CHANGES_JOB, progressModel, type Webhook } from './model';
import { deliveryOf } from './outbox';
import type { Webhooks } from './service';

/** The least time between two of an account. */
const SPACED_MS = 5000;
const ACCOUNTS_PER_READ = 1000;
/** How long one process reads before it gives up the lease. */
const TURN_MS = 60_000;

/**
 * Records `account.changed`. It reads the changes from MongoDB's own log, so that a write costs nothing more,
 * and continues where it or another process stopped.
 */
export function accountChanges(host: Host, { accounts, deliveries, webhooks }: Dependencies): Job {
  const progress = host.model(progressModel);
  const lease = host.lease(CHANGES_JOB);
  const _id = CHANGES_JOB;

  async function announce(ids: readonly string[], subscribed: readonly Webhook[]): Promise<void> {
    const people = await accounts.lists.open(ids.filter((id) => !isBackend(id)));
    const tell = async ({ id: userId, createdAt: since, revision }: Account): Promise<void> => {
      const event = { type: CHANGED, userId, since, revision, createdAt: new Date() };
      const added = subscribed.map((webhook) => ({
        ...deliveryOf(webhook, { ...event, data: { revision }, spacedMs: SPACED_MS }),
        _id: eventId(webhook._id, event, String(revision)),
      }));
      await deliveries.replace(added);
    };
    await forEachTried(people, tell, { accountOf: ({ id }) => id });
  }

  async function readFrom(stream: RevisionStream, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const changed = await stream.next(ACCOUNTS_PER_READ);
      // Read later, so that a webhook that subscribed before a change is among them.
      const subscribed = await webhooks.subscribed(CHANGED);
      if (subscribed.length === 0) return;
      let failure: PartialFailure | undefined;
      try {
        await announce([...changed], subscribed);
      } catch (error) {
        if (!(error instanceof PartialFailure) || isConnectionError(error.cause)) throw error;
        // An account that fails delays no other; its next change tells of this one, too.
        failure = error;
      }
      const $set = { until: new Date(), position: stream.position };
      await progress.updateOne({ _id }, { $set });
      if (failure) throw failure;
    }
  }

  /** Announces all accounts: any may have changed. */
  async function readAnew(isOver: () => boolean): Promise<void> {
    const stream = accounts.lists.revisions();
    try {
      // It begins before the accounts are read.
      const changed = await stream.next(ACCOUNTS_PER_READ);
      const ids = (await accounts.lists.accounts()).map(({ id }) => id);
      const subscribed = await webhooks.subscribed(CHANGED);
      for (const some of chunksOf([...changed, ...ids], ACCOUNTS_PER_READ)) {
        if (isOver()) return;
        await announce(some, subscribed);
      }
      const $set = { until: new Date(), position: stream.position };
      await progress.updateOne({ _id }, { $set });
    } finally {
      await stream.close();
    }
  }

  async function read(isOver: () => boolean): Promise<void> {
    const { position } = (await progress.findOne({ _id }).lean()) ?? {};
    const stream = accounts.lists.revisions(position);
    try {
      await readFrom(stream, isOver);
    } catch (error) {
      if (!isLost(error)) throw error;
      host.log.warn('The changes of accounts were not read for too long; all are announced');
      await readAnew(isOver);
    } finally {
      await stream.close();
    }
  }

  return {
    name: CHANGES_JOB,
    everySeconds: 1,
    run: async (stopping) => {
      if ((await webhooks.subscribed(CHANGED)).length === 0) return true;
      const endsAt = performance.now() + TURN_MS;
      return lease.try(() =>
        read(() => stopping.aborted || performance.now() >= endsAt || !lease.lasts(0)),
      );
    },
  };
}

interface Dependencies {
  accounts: Accounts;
  deliveries: Deliveries;
  webhooks: Webhooks;
}
