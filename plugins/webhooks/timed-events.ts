import { setTimeout as sleep } from 'node:timers/promises';

import { v5 } from 'uuid';

import { forEachTried } from '../../src/core/each';
import type { Account } from '../../src/core/identity';
import { anyOf, idText, type StoredId, toStoredId } from '../../src/core/ids';
import { calendarOf, timeOfDay } from '../../src/core/time';
import type { Host } from '../../src/plugins/host';
import type { Job } from '../../src/plugins/plugin';
import type { Accounts } from '../accounts';
import type { Care } from '../care';
import { deliveryModel, type EventName, progressModel, type Webhook } from './model';
import { type AccountEvent, deliveryOf } from './outbox';
import type { DeliveryQueue } from './queue';

/** How many items an event has at most. */
const MAX_ITEMS = 100;
/** The pause after each account, as a multiple of the time that it took: requests come first. */
const PAUSE_RATIO = 3;

/** How many accounts whose events failed are remembered. */
const MAX_FAILED = 1000;

/** Records the events of one account. */
interface Step {
  account: Account;
  run: () => Promise<void>;
}

/** What records the events between two moments, one after the other. */
type Steps = (after: Date, now: Date) => AsyncIterable<Step>;

/** Records the events that only time causes: care that is due, and tiers that have ended. */
export class TimedEvents {
  readonly #host: Host;
  readonly #accounts: Accounts;
  readonly #care: Care;
  readonly #queue: DeliveryQueue;
  readonly #progress;
  readonly #deliveries;

  constructor(host: Host, accounts: Accounts, care: Care, queue: DeliveryQueue) {
    this.#host = host;
    this.#accounts = accounts;
    this.#care = care;
    this.#queue = queue;
    this.#progress = host.model(progressModel);
    this.#deliveries = host.model(deliveryModel);
  }

  /** Reminders of many accounts take long, and must not delay the other events. */
  get jobs(): Job[] {
    return [
      this.#job('reminders', (...span) => this.#reminders(...span)),
      this.#job('tiers', (...span) => this.#tiers(...span)),
    ];
  }

  /**
   * A job that records the events of each minute. When interrupted, it is repeated, and adds none twice.
   * An account that fails delays no other: it is tried again each minute, until this process stops.
   */
  #job(events: string, stepsOf: Steps): Job {
    const failed = new Map<string, Step>();
    const name = `webhook ${events}`;
    const lease = this.#host.lease(name);
    const untilOf = async (_id: string) => (await this.#progress.findOne({ _id }).lean())?.until;
    // Earlier versions stored one time for both jobs.
    const last = async () => (await untilOf(name)) ?? untilOf('reminders');
    return {
      name,
      everySeconds: 5,
      run: async (stopping) => {
        const until = await last();
        if (until && minuteOf(until) === minuteOf(new Date())) return;
        await lease.try(async () => {
          const now = new Date();
          const mayContinue = (): boolean => !stopping.aborted && lease.lasts(0);
          const after = (await last()) ?? now;
          const steps = async function* (this: TimedEvents): AsyncGenerator<Step> {
            yield* [...failed.values()];
            yield* stepsOf(after, now);
            if (!mayContinue()) return;
            const $set = { until: now };
            await this.#progress.updateOne({ _id: name }, { $set }, { upsert: true });
          };
          const tryStep = async (step: Step): Promise<void> => {
            const { id } = step.account;
            if (failed.size < MAX_FAILED) failed.set(id, step);
            await step.run();
            failed.delete(id);
          };
          await forEachTried(steps.call(this), tryStep, () => !mayContinue());
        });
      },
    };
  }

  async *#reminders(after: Date, now: Date): AsyncGenerator<Step> {
    if ((await this.#subscribed('care.due')).length === 0) return;
    for (const zone of await this.#accounts.lists.timezones()) {
      const dayOf = calendarOf(zone);
      // Reminders of an earlier day are of no use any more.
      const from = dayOf(after) === dayOf(now) ? timeOfDay(zone, after) : '';
      const to = timeOfDay(zone, now);
      // Clocks that were put back repeat times that have passed already.
      if (from >= to) continue;
      for await (const accounts of this.#accounts.lists.toRemind(zone, from, to)) {
        // Webhooks may have been switched on or off meanwhile.
        const webhooks = await this.#subscribed('care.due');
        for (const account of await this.#notReminded(accounts, webhooks, dayOf(now))) {
          yield { account, run: () => this.#remind(webhooks, account, now) };
        }
      }
    }
  }

  async *#tiers(after: Date, now: Date): AsyncGenerator<Step> {
    const webhooks = await this.#subscribed('tier.changed');
    for await (const accounts of this.#accounts.lists.lapsed(after, now)) {
      for (const account of accounts) {
        const data = { tier: account.tier };
        const key = String(account.tierUntil?.getTime());
        yield { account, run: () => this.#add(webhooks, account, 'tier.changed', key, { data }) };
      }
    }
  }

  async #subscribed(type: EventName): Promise<Webhook[]> {
    return (await this.#queue.active()).filter(({ events }) => events.includes(type));
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
    const all = accounts.map((account) => ({ account, id: idOf(last, account, 'care.due', day) }));
    const ids = anyOf(all.map(({ id }) => id));
    const found = await this.#deliveries.find({ _id: ids }, '_id').lean();
    const done = new Set(found.map(({ _id }) => idText(_id)));
    return all.filter(({ id }) => !done.has(idText(id))).map(({ account }) => account);
  }

  async #remind(webhooks: readonly Webhook[], account: Account, now: Date): Promise<void> {
    const begun = performance.now();
    const { id: userId, timezone: dayIn } = account;
    const dayOf = calendarOf(dayIn);
    const isOver = (): boolean => dayOf(new Date()) !== dayOf(now);
    if (isOver()) return;
    const { today, items } = await this.#care.due(account, { userId }, {}, now);
    // It may have been closed while others were reminded.
    if (items.length > 0 && !isOver() && (await this.#accounts.isOpen(userId))) {
      const data = { today, count: items.length, items: items.slice(0, MAX_ITEMS) };
      await this.#add(webhooks, account, 'care.due', today, { data, dayIn });
    }
    await sleep((performance.now() - begun) * PAUSE_RATIO);
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
    const writes = webhooks.map((webhook) => {
      const _id = idOf(webhook, account, type, key);
      const { _id: _, ...delivery } = deliveryOf(webhook, event);
      return { updateOne: { filter: { _id }, update: { $setOnInsert: delivery }, upsert: true } };
    });
    await this.#deliveries.bulkWrite(writes);
  }
}

/** The id of a delivery: always the same for an event that happens once. */
function idOf({ _id }: Webhook, account: Account, type: EventName, key: string): StoredId {
  const name = JSON.stringify([account.id, account.createdAt, type, key]);
  return toStoredId(v5(name, idText(_id)));
}

/** Reminders are at whole minutes. */
function minuteOf(moment: Date): number {
  return Math.floor(moment.getTime() / 60_000);
}
