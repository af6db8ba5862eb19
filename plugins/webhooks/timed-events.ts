import { setTimeout as sleep } from 'node:timers/promises';

import type { Account } from '../../src/core/identity';
import { idText } from '../../src/core/ids';
import { calendarOf, timeOfDay, timesSince } from '../../src/core/time';
import type { Job } from '../../src/plugins/plugin';
import type { Accounts } from '../accounts';
import { type Care, dueEvent } from '../care';
import { type Deliveries, eventId } from '../deliveries';
import type { EventName, Webhook } from './model';
import { type AccountEvent, deliveryOf } from './outbox';
import type { Webhooks } from './service';
import { type Step, timedJob, type TimedEvent, type TimedJobDependencies } from './timed-job';

/** The pause after each account, as a multiple of the time that it took: requests come first. */
const PAUSE_RATIO = 3;

interface Dependencies extends TimedJobDependencies {
  care: Care;
  deliveries: Deliveries;
}

/** Records the events that only time causes: care that is due, and tiers that have ended. */
export class TimedEvents {
  readonly #dependencies: TimedJobDependencies;
  readonly #accounts: Accounts;
  readonly #care: Care;
  readonly #webhooks: Webhooks;
  readonly #deliveries: Deliveries;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#accounts = dependencies.accounts;
    this.#care = dependencies.care;
    this.#webhooks = dependencies.webhooks;
    this.#deliveries = dependencies.deliveries;
  }

  /** Reminders of many accounts take long, and must not delay the other events. */
  get jobs(): Job[] {
    const reminders: TimedEvent = {
      name: 'webhook reminders',
      type: 'care.due',
      steps: (...span) => this.#reminders(...span),
      record: (...event) => this.#remind(...event),
    };
    const tiers: TimedEvent = {
      name: 'webhook tiers',
      type: 'tier.changed',
      steps: (...span) => this.#tiers(...span),
      record: (...event) => this.#endTier(...event),
    };
    return [reminders, tiers].map((each) => timedJob(this.#dependencies, each));
  }

  async *#reminders(after: Date, now: Date): AsyncGenerator<Step> {
    if ((await this.#webhooks.subscribed('care.due')).length === 0) return;
    for (const { timezone, userId } of await this.#accounts.lists.timezones()) {
      let span: ReturnType<typeof timesSince>;
      try {
        // Reminders of an earlier day are of no use any more.
        span = timesSince(timezone, after, now);
      } catch (error) {
        // This Node may not know the zone. One of its accounts stands for all.
        const fail = async (): Promise<void> => {
          throw error;
        };
        yield { userId, at: now, run: fail };
        continue;
      }
      const { day, from, to } = span;
      for await (const accounts of this.#accounts.lists.toRemind(timezone, from, to)) {
        // Webhooks may have been switched on or off meanwhile.
        const webhooks = await this.#webhooks.subscribed('care.due');
        for (const account of await this.#notReminded(accounts, webhooks, day)) {
          const run = (): Promise<void> => this.#remind(webhooks, account, now);
          yield { userId: account.id, at: now, run };
        }
      }
    }
  }

  async *#tiers(after: Date, now: Date): AsyncGenerator<Step> {
    const webhooks = await this.#webhooks.subscribed('tier.changed');
    for await (const accounts of this.#accounts.lists.lapsed(after, now)) {
      for (const account of accounts) {
        const run = (): Promise<void> => this.#endTier(webhooks, account, now);
        yield { userId: account.id, at: now, run };
      }
    }
  }

  /** Leaves out the accounts that an interrupted run has already reminded on a day. */
  async #notReminded(
    accounts: readonly Account[],
    webhooks: readonly Webhook[],
    day: string,
  ): Promise<readonly Account[]> {
    // Deliveries are added in the order of the webhooks.
    const last = webhooks.at(-1);
    if (!last) return [];
    const type = 'care.due';
    const all = accounts.map((account) => ({
      account,
      id: eventId(last._id, { userId: account.id, since: account.createdAt, type }, day),
    }));
    const done = await this.#deliveries.existing(all.map(({ id }) => id));
    return all.filter(({ id }) => !done.has(idText(id))).map(({ account }) => account);
  }

  async #remind(webhooks: readonly Webhook[], account: Account, at: Date): Promise<void> {
    const begun = performance.now();
    const { id: userId, timezone: dayIn } = account;
    if (isOver(account, at)) return;
    const due = await this.#care.due(account, { userId }, {}, at);
    // It may have been closed while others were reminded.
    if (due.items.length > 0 && !isOver(account, at) && (await this.#accounts.isOpen(userId))) {
      const event = { data: dueEvent(due), dayIn };
      await this.#add(webhooks, account, 'care.due', due.today, event);
    }
    await sleep((performance.now() - begun) * PAUSE_RATIO);
  }

  async #endTier(webhooks: readonly Webhook[], account: Account, at: Date): Promise<void> {
    const { tier, tierUntil } = account;
    // It may have been changed since, which is an event of its own.
    if (!tierUntil || tierUntil > at) return;
    await this.#add(webhooks, account, 'tier.changed', String(tierUntil.getTime()), {
      data: { tier },
    });
  }

  /** @param key the same event of an account has the same one, and is added once */
  async #add(
    webhooks: readonly Webhook[],
    account: Account,
    type: EventName,
    key: string,
    details: Pick<AccountEvent, 'data' | 'dayIn'>,
  ): Promise<void> {
    if (webhooks.length === 0) return;
    const { id: userId, createdAt: since, revision } = account;
    const event = { ...details, type, userId, since, revision, createdAt: new Date() };
    await this.#deliveries.insertMissing(
      webhooks.map((webhook) => ({
        ...deliveryOf(webhook, event),
        _id: eventId(webhook._id, event, key),
      })),
    );
  }
}

/** Whether a reminder is of an earlier day, or not of this time any more. */
function isOver({ timezone, remindAt }: Account, at: Date): boolean {
  const dayOf = calendarOf(timezone);
  const now = new Date();
  if (dayOf(now) !== dayOf(at)) return true;
  return remindAt === null || remindAt > timeOfDay(timezone, now);
}
