import { setTimeout as sleep } from 'node:timers/promises';

import pLimit, { type LimitFunction } from 'p-limit';

import { idText } from '../../src/core/ids';
import type { Reading } from '../../src/core/metrics';
import { calendarOf, DAY_MS } from '../../src/core/time';
import type { Lease } from '../../src/data/schema/lease';
import type { Host } from '../../src/plugins/host';
import type { Job } from '../../src/plugins/plugin';
import type { Delivery, Webhook } from './model';
import { PATIENCE_MS, type Post } from './post';
import type { DeliveryQueue } from './queue';
import type { Webhooks } from './service';

/** After how long without success a webhook is switched off. */
const GIVEN_UP_MS = 3 * DAY_MS;
/** How many deliveries a webhook gets at once, each of another account. */
const MAX_AT_ONCE = 16;
/** How many accounts are looked up at once, and how many deliveries of one. */
const ACCOUNTS = 500;
const OF_ONE = 20;
/** How often it looks for more, and when it lets others take their turn. */
const LOOK_MS = 200;
const TURN_MS = 10 * 60_000;
/** How much longer than an attempt the lease must last, for no other process to make the same. */
const MARGIN_MS = 500;

/** A webhook that is being delivered to. */
interface Route {
  webhook: Webhook;
  limit: LimitFunction;
  /** Accounts of which something is being sent, or will be. */
  accounts: Map<string, Promise<void>>;
}

/** Delivers what waits. Any process may; one does at a time, so nothing is sent twice at once. */
export class Courier {
  readonly #queue: DeliveryQueue;
  readonly #post: Post;
  readonly #webhooks: Webhooks;
  readonly #lease: Lease;
  readonly #outcomes = { delivered: 0, failed: 0, dropped: 0 };

  constructor(host: Host, queue: DeliveryQueue, post: Post, webhooks: Webhooks) {
    this.#queue = queue;
    this.#post = post;
    this.#webhooks = webhooks;
    this.#lease = host.lease('webhook deliveries');
  }

  get job(): Job {
    return {
      name: 'webhook delivery',
      everySeconds: 1,
      run: async (stopping) => {
        if (await this.#queue.isDue()) await this.#lease.try(() => this.#deliver(stopping));
      },
    };
  }

  get readings(): Reading[] {
    return [
      {
        name: 'webhook_deliveries_total',
        help: 'Attempts to deliver to webhooks by what became of them; dropped ones came too late',
        label: 'outcome',
        isTotal: true,
        read: () => ({ ...this.#outcomes }),
      },
      {
        name: 'webhook_oldest_waiting_seconds',
        help: 'For how long the oldest delivery has waited of all webhooks that are on',
        read: () => this.#queue.oldestSeconds(),
      },
    ];
  }

  async #deliver(stopping: AbortSignal): Promise<void> {
    const end = performance.now() + TURN_MS;
    const routes = new Map<string, Route>();
    const breakOff = (): void => {
      this.#post.breakOff();
    };
    stopping.addEventListener('abort', breakOff);
    const failures: unknown[] = [];
    const mayGoOn = (): boolean =>
      failures.length === 0 && !stopping.aborted && this.#lease.lasts(PATIENCE_MS + MARGIN_MS);
    const begin = (route: Route, userId: string): void => {
      const sent = route
        .limit(() => this.#sendSome(route.webhook, userId, mayGoOn, stopping))
        .catch((error: unknown) => void failures.push(error))
        .finally(() => route.accounts.delete(userId));
      route.accounts.set(userId, sent);
    };
    const look = async (): Promise<void> => {
      await this.#refresh(routes);
      for (const route of routes.values()) {
        const isAsleep = !route.webhook.active || performance.now() >= end;
        if (isAsleep || route.limit.pendingCount > 0) continue;
        for (const userId of await this.#queue.dueAccounts(route.webhook, ACCOUNTS)) {
          if (!route.accounts.has(userId)) begin(route, userId);
        }
      }
    };
    for (;;) {
      if (mayGoOn()) await look().catch((error: unknown) => failures.push(error));
      const sending = [...routes.values()].flatMap(({ accounts }) => [...accounts.values()]);
      if (sending.length === 0) break;
      await Promise.race([sleep(LOOK_MS), Promise.all(sending)]);
    }
    stopping.removeEventListener('abort', breakOff);
    if (failures.length > 0) throw failures[0];
  }

  /** Has webhooks be as they are now: one may have been switched off, or on again. */
  async #refresh(routes: Map<string, Route>): Promise<void> {
    const active = new Map((await this.#queue.active()).map((each) => [idText(each._id), each]));
    for (const [id, { webhook }] of routes) webhook.active = active.has(id);
    for (const [id, webhook] of active) {
      if (webhook.isResumed) await this.#queue.resume(webhook);
      const route = routes.get(id);
      // The same object, which what is on its way looks at.
      if (route) Object.assign(route.webhook, webhook);
      else routes.set(id, { webhook, limit: pLimit(MAX_AT_ONCE), accounts: new Map() });
    }
  }

  /** Sends some of what waits of an account, in its order, until one fails. */
  async #sendSome(
    webhook: Webhook,
    userId: string,
    mayGoOn: () => boolean,
    stopping: AbortSignal,
  ): Promise<void> {
    if (!mayGoOn()) return;
    for (const delivery of await this.#queue.next(webhook, userId, OF_ONE)) {
      if (!webhook.active || !mayGoOn()) return;
      if (delivery.nextAttemptAt && delivery.nextAttemptAt.getTime() > Date.now()) {
        await this.#queue.postpone(webhook, delivery);
        return;
      }
      if (isStale(delivery)) {
        await this.#queue.settle(delivery, 'dropped');
        this.#outcomes.dropped += 1;
        continue;
      }
      const outcome = await this.#post.send(webhook, delivery);
      // What was broken off says nothing about the receiver.
      if (outcome.error !== null && stopping.aborted) return;
      await this.#queue.record(webhook, delivery, outcome);
      this.#outcomes[outcome.error === null ? 'delivered' : 'failed'] += 1;
      if (outcome.error === null) continue;
      if (outcome.status === 410) await this.#webhooks.switchOff(webhook, 'gone');
      else if (hasFailedTooLong(webhook, delivery)) {
        await this.#webhooks.switchOff(webhook, 'failing');
      }
      return;
    }
  }
}

/** Whether a webhook has had no success for too long, or one of its deliveries. */
function hasFailedTooLong(...failing: readonly { failingSince: Date | null }[]): boolean {
  return failing.some(
    ({ failingSince }) => failingSince && Date.now() - failingSince.getTime() >= GIVEN_UP_MS,
  );
}

/** Whether the only day is over on which it was of use. */
function isStale({ dayIn, createdAt }: Delivery): boolean {
  if (dayIn === null) return false;
  const dayOf = calendarOf(dayIn);
  return dayOf(new Date()) !== dayOf(createdAt);
}
