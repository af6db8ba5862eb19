import { setTimeout as sleep } from 'node:timers/promises';

import { v5 } from 'uuid';

import type { Account } from '../../src/core/identity';
import { idText, toStoredId } from '../../src/core/ids';
import { calendarOf, timeOfDay } from '../../src/core/time';
import type { Lease } from '../../src/data/schema/lease';
import type { Host } from '../../src/plugins/host';
import type { Job } from '../../src/plugins/plugin';
import type { Accounts } from '../accounts';
import type { Care } from '../care';
import { clockModel, deliveryModel, type EventName, type Webhook } from './model';
import { deliveryOf } from './outbox';
import type { DeliveryQueue } from './queue';

/** How many items a message has at most. */
const MAX_ITEMS = 100;
const CLOCK = { _id: 'reminders' };

/** Something that came to an account by time alone; the same `key` comes once. */
interface Occurrence {
  type: EventName;
  key: string;
  data: object;
  dayIn?: string;
}

/** Tells webhooks what no write is the cause of: that care is due, and that a tier has ended. */
export class Reminders {
  readonly #accounts: Accounts;
  readonly #care: Care;
  readonly #queue: DeliveryQueue;
  readonly #lease: Lease;
  readonly #clock;
  readonly #deliveries;

  constructor(host: Host, accounts: Accounts, care: Care, queue: DeliveryQueue) {
    this.#accounts = accounts;
    this.#care = care;
    this.#queue = queue;
    this.#lease = host.lease('webhook reminders');
    this.#clock = host.model(clockModel);
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
          await this.#tell((await this.#until()) ?? now, now, stopping);
        });
      },
    };
  }

  /** Until when all was told; undefined before the first time. */
  async #until(): Promise<Date | undefined> {
    return (await this.#clock.findOne(CLOCK).lean())?.until;
  }

  /** One that is broken off is done anew: what was told is not told again. */
  async #tell(after: Date, now: Date, stopping: AbortSignal): Promise<void> {
    const active = await this.#queue.active();
    const listening = (type: EventName) => active.filter(({ events }) => events.includes(type));
    const mayGoOn = (): boolean => !stopping.aborted && this.#lease.lasts(0);
    const ofCare = listening('care.due');
    const zones = ofCare.length > 0 ? await this.#accounts.timezones() : [];
    for (const zone of zones) {
      const dayOf = calendarOf(zone);
      // What was missed on a former day is of no use any more.
      const from = dayOf(after) === dayOf(now) ? timeOfDay(zone, after) : '';
      const to = timeOfDay(zone, now);
      // None while clocks that were put back show again what they have shown.
      if (from >= to) continue;
      for await (const accounts of this.#accounts.toRemind(zone, from, to)) {
        for (const account of accounts) {
          if (!mayGoOn()) return;
          await this.#remind(ofCare, account, now);
        }
      }
    }
    for await (const accounts of this.#accounts.lapsed(after, now)) {
      for (const account of accounts) {
        const key = String(account.tierUntil?.getTime());
        const data = { tier: account.tier };
        await this.#add(listening('tier.changed'), account, { type: 'tier.changed', key, data });
      }
    }
    if (mayGoOn()) await this.#clock.updateOne(CLOCK, { $set: { until: now } }, { upsert: true });
  }

  async #remind(webhooks: readonly Webhook[], account: Account, now: Date): Promise<void> {
    const begun = performance.now();
    const { id: userId, timezone: dayIn } = account;
    const { today, items } = await this.#care.due(account, { userId }, {}, now);
    const isOver = calendarOf(dayIn)(new Date()) !== today;
    if (items.length > 0 && !isOver) {
      const data = { today, count: items.length, items: items.slice(0, MAX_ITEMS) };
      await this.#add(webhooks, account, { type: 'care.due', key: today, data, dayIn });
    }
    // Half of the time is for those who call.
    await sleep(performance.now() - begun);
  }

  async #add(webhooks: readonly Webhook[], account: Account, what: Occurrence): Promise<void> {
    if (webhooks.length === 0) return;
    const { id: userId, createdAt: since, revision } = account;
    const { key, ...happening } = { ...what, userId, since, revision, createdAt: new Date() };
    const writes = webhooks.map((webhook) => {
      const name = JSON.stringify([userId, since, what.type, key]);
      const _id = toStoredId(v5(name, idText(webhook._id)));
      const { _id: _, ...delivery } = deliveryOf(webhook, happening);
      return { updateOne: { filter: { _id }, update: { $setOnInsert: delivery }, upsert: true } };
    });
    await this.#deliveries.bulkWrite(writes);
  }
}

/** People are reminded at whole minutes. */
function minuteOf(moment: Date): number {
  return Math.floor(moment.getTime() / 60_000);
}
