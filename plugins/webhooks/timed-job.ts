import { forEachTried } from '../../src/core/each';
import type { Account } from '../../src/core/identity';
import type { Host } from '../../src/plugins/host';
import type { Job } from '../../src/plugins/plugin';
import type { Accounts } from '../accounts';
import { type EventName, progressModel, type Webhook } from './model';
import type { Webhooks } from './service';

/** How many failed accounts are stored. If there are more, all accounts are tried again. */
const MAX_FAILED = 1000;

export interface TimedJobDependencies {
  host: Host;
  accounts: Accounts;
  webhooks: Webhooks;
}

/** Records the event of one account. */
export interface Step {
  userId: string;
  /** When it was first tried. */
  at: Date;
  run: () => Promise<void>;
}

/** An event that only time causes. */
export interface TimedEvent {
  /** The name of its job. */
  name: string;
  type: EventName;
  /** Finds the accounts that it happens to after one moment, up to another. */
  steps: (after: Date, now: Date) => AsyncIterable<Step>;
  record: (webhooks: readonly Webhook[], account: Account, at: Date) => Promise<void>;
}

/**
 * A job that records the events of each minute. When interrupted, it is repeated, and adds none twice.
 * An account that fails delays no other, and is tried again each minute.
 */
export function timedJob(
  { host, accounts, webhooks: all }: TimedJobDependencies,
  { name, type, steps, record }: TimedEvent,
): Job {
  const progress = host.model(progressModel);
  const lease = host.lease(name);
  const last = () => progress.findOne({ _id: name }).lean().exec();

  /** Tries accounts again, as they are now. */
  async function* again(failed: readonly Pick<Step, 'userId' | 'at'>[]): AsyncGenerator<Step> {
    if (failed.length === 0) return;
    const webhooks = await all.subscribed(type);
    for (const { userId, at } of failed) {
      const run = async (): Promise<void> => {
        const account = await accounts.person(userId);
        if (account) await record(webhooks, account, at);
      };
      yield { userId, at, run };
    }
  }

  async function recordAll(isOver: () => boolean): Promise<void> {
    const now = new Date();
    const { until: after = now, failed = [] } = (await last()) ?? {};
    const failing = new Map<string, Date>();
    async function* all(): AsyncGenerator<Step> {
      yield* again(failed);
      yield* steps(after, now);
      if (isOver() || failing.size > MAX_FAILED) return;
      const left = Array.from(failing, ([userId, at]) => ({ userId, at }));
      const $set = { until: now, failed: left };
      await progress.updateOne({ _id: name }, { $set }, { upsert: true });
    }
    const tryStep = async ({ userId, at, run }: Step): Promise<void> => {
      const isNew = !failing.has(userId) && failing.size <= MAX_FAILED;
      if (isNew) failing.set(userId, at);
      await run();
      if (isNew) failing.delete(userId);
    };
    await forEachTried(all(), tryStep, { accountOf: ({ userId }) => userId, isOver });
  }

  return {
    name,
    everySeconds: 5,
    run: async (stopping) => {
      const until = (await last())?.until;
      if (until && minuteOf(until) === minuteOf(new Date())) return false;
      return lease.try(() => recordAll(() => stopping.aborted || !lease.lasts(0)));
    },
  };
}

/** Reminders are at whole minutes. */
function minuteOf(moment: Date): number {
  return Math.floor(moment.getTime() / 60_000);
}
