import { setTimeout as sleep } from 'node:timers/promises';

import { v5 } from 'uuid';

import type { Account } from '../../src/core/identity';
import { anyOf, idText, type StoredId, toStoredId } from '../../src/core/ids';
import { calendarOf, timeOfDay } from '../../src/core/time';
import type { Lease } from '../../src/data/schema/lease';
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
const PROGRESS = { _id: 'reminders' };

/** Records the events that only time causes: care that is due, and tiers that have ended. */
export class TimedEvents {
  readonly #accounts: Accounts;
  readonly #care: Care;
  readonly #queue: DeliveryQueue;
  readonly #lease: Lease;
  readonly #progress;
  readonly #deliveries;

  constructor(host: Host, accounts: Accounts, care: Care, queue: DeliveryQueue) {
    this.#accounts = accounts;
    this.#care = care;
    this.#queue = queue;
    this.#lease = host.lease('webhook reminders');
    this.#progress = host.model(progressModel);
    this.#deliveries = host.model(deliveryModel);
  }

  get job(): Job {
    return {
      name: 'webhook reminders',
      everySeconds: 5,
      run: async (stopping) => {
        const until = await this.#until();
        if (until && minuteOf(until) === minuteOf(new Date())) return;
        await this.#lease.try(async () => {
          const now = new Date();
          await this.#record((await this.#until()) ?? now, now, stopping);
        });
      },
    };
  }

  /** The time up to which all events were recorded; undefined before the first run. */
  async #until(): Promise<Date | undefined> {
    return (await this.#progress.findOne(PROGRESS).lean())?.until;
  }

  /** Records the events between two moments. When interrupted, it is repeated, and adds none twice. */
  async #record(after: Date, now: Date, stopping: AbortSignal): Promise<void> {
    const active = await this.#queue.active();
    const subscribed = (type: EventName) => active.filter(({ events }) => events.includes(type));
    const mayContinue = (): boolean => !stopping.aborted && this.#lease.lasts(0);
    const toRemind = subscribed('care.due');
    const zones = toRemind.length > 0 ? await this.#accounts.lists.timezones() : [];
    for (const zone of zones) {
      const dayOf = calendarOf(zone);
      // Reminders of an earlier day are of no use any more.
      const from = dayOf(after) === dayOf(now) ? timeOfDay(zone, after) : '';
      const to = timeOfDay(zone, now);
      // Clocks that were put back repeat times that have passed already.
      if (from >= to) continue;
      for await (const accounts of this.#accounts.lists.toRemind(zone, from, to)) {
        for (const account of await this.#notReminded(accounts, toRemind, dayOf(now))) {
          if (!mayContinue()) return;
          await this.#remind(toRemind, account, now);
        }
      }
    }
    for await (const accounts of this.#accounts.lists.lapsed(after, now)) {
      for (const account of accounts) {
        const data = { tier: account.tier };
        const key = String(account.tierUntil?.getTime());
        await this.#add(subscribed('tier.changed'), account, 'tier.changed', key, { data });
      }
    }
    if (!mayContinue()) return;
    await this.#progress.updateOne(PROGRESS, { $set: { until: now } }, { upsert: true });
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
    const ids = accounts.map((each) => idOf(last, each, 'care.due', day));
    const found = await this.#deliveries.find({ _id: anyOf(ids) }, '_id').lean();
    const done = new Set(found.map(({ _id }) => idText(_id)));
    return accounts.filter((each) => !done.has(idText(idOf(last, each, 'care.due', day))));
  }

  async #remind(webhooks: readonly Webhook[], account: Account, now: Date): Promise<void> {
    const begun = performance.now();
    const { id: userId, timezone: dayIn } = account;
    const { today, items } = await this.#care.due(account, { userId }, {}, now);
    const isOver = calendarOf(dayIn)(new Date()) !== today;
    if (items.length > 0 && !isOver) {
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
