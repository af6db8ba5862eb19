import { setTimeout as sleep } from 'node:timers/promises';

import pLimit, { type LimitFunction } from 'p-limit';

import { Failures } from '../../src/core/each';
import { idText } from '../../src/core/ids';
import type { Reading } from '../../src/core/metrics';
import { calendarOf, DAY_MS } from '../../src/core/time';
import { isConnectionError } from '../../src/data/mongodb/errors';
import type { Lease } from '../../src/data/schema/lease';
import type { Host } from '../../src/plugins/host';
import type { Job } from '../../src/plugins/plugin';
import type { Delivery, Webhook } from './model';
import type { DeliveryQueue } from './queue';
import { type Sender, TIMEOUT_MS } from './sender';
import type { Webhooks } from './service';

/** How long a webhook, or one of its deliveries, may fail before the webhook is switched off. */
const MAX_FAILING_MS = 3 * DAY_MS;
/** How many deliveries of a webhook are sent at once, each of another account. */
const MAX_CONCURRENT = 16;
/** The pause before each begins: requests to the API would wait for a burst of deliveries. */
const PACE_MS = 5;
/** How many accounts are fetched at once, and how many deliveries of one account. */
const ACCOUNTS_PER_FETCH = 500;
const DELIVERIES_PER_FETCH = 20;
const FETCH_EVERY_MS = 200;
/** How long one process delivers before it gives up the lease. */
const TURN_MS = 10 * 60_000;
/** How much longer than an attempt the lease must last, so that no other process repeats the attempt. */
const LEASE_MARGIN_MS = 500;

/** A webhook that deliveries are being sent to. */
interface Endpoint {
  webhook: Webhook;
  limit: LimitFunction;
  /** Lets accounts begin one after the other. */
  pace: LimitFunction;
  /** Accounts whose deliveries are being sent or queued to be. */
  accounts: Map<string, Promise<void>>;
  /** Accounts that are left to the next turn, since an error of ours stopped their deliveries. */
  failed: Set<string>;
  /** Whether it is itself left to the next turn. */
  hasFailed: boolean;
}

/** One turn of a process that holds the lease. */
interface Turn {
  endsAt: number;
  stopping: AbortSignal;
  endpoints: Map<string, Endpoint>;
  failures: Failures;
  /** Whether more deliveries may be due than were fetched. */
  hasMore: boolean;
}

/** Sends due deliveries. One process at a time holds a lease, so none is sent twice at once. */
export class Dispatcher {
  readonly #queue: DeliveryQueue;
  readonly #sender: Sender;
  readonly #webhooks: Webhooks;
  readonly #lease: Lease;
  readonly #outcomes = { delivered: 0, failed: 0, dropped: 0 };

  constructor(host: Host, queue: DeliveryQueue, sender: Sender, webhooks: Webhooks) {
    this.#queue = queue;
    this.#sender = sender;
    this.#webhooks = webhooks;
    this.#lease = host.lease('webhook deliveries');
  }

  get job(): Job {
    return {
      name: 'webhook delivery',
      everySeconds: 1,
      run: async (stopping) => {
        if (await this.#queue.isDue()) await this.#lease.try(() => this.#dispatch(stopping));
      },
    };
  }

  get readings(): Reading[] {
    return [
      {
        name: 'webhook_deliveries_total',
        help: 'Attempts to deliver to webhooks, by outcome; dropped ones were too late',
        label: 'outcome',
        isTotal: true,
        read: () => ({ ...this.#outcomes }),
      },
      {
        name: 'webhook_oldest_waiting_seconds',
        help: 'How long the oldest delivery of all active webhooks has waited',
        read: () => this.#queue.oldestSeconds(),
      },
    ];
  }

  /** Sends until nothing more is due. */
  async #dispatch(stopping: AbortSignal): Promise<void> {
    const abort = (): void => {
      this.#sender.abort();
    };
    stopping.addEventListener('abort', abort);
    const turn: Turn = {
      endsAt: performance.now() + TURN_MS,
      stopping,
      endpoints: new Map(),
      failures: new Failures(),
      hasMore: true,
    };
    for (;;) {
      const mayFetch = this.#mayContinue(turn);
      if (mayFetch) {
        await this.#fetch(turn).catch((error: unknown) => {
          turn.failures.add(error);
          turn.endsAt = 0;
        });
      }
      const sending = [...turn.endpoints.values()].flatMap(({ accounts }) => [
        ...accounts.values(),
      ]);
      if (sending.length === 0 && !(mayFetch && turn.hasMore)) break;
      await Promise.race([sleep(FETCH_EVERY_MS), Promise.all(sending)]);
    }
    stopping.removeEventListener('abort', abort);
    turn.failures.throwIfAny();
  }

  #mayContinue({ endsAt, stopping }: Turn): boolean {
    const isLeased = this.#lease.lasts(TIMEOUT_MS + LEASE_MARGIN_MS);
    const isOver = performance.now() >= endsAt || stopping.aborted;
    return isLeased && !isOver;
  }

  /** Begins to send to the accounts with due deliveries. */
  async #fetch(turn: Turn): Promise<void> {
    turn.hasMore = false;
    await this.#refresh(turn.endpoints);
    for (const endpoint of turn.endpoints.values()) {
      if (!endpoint.webhook.active || endpoint.hasFailed) continue;
      await this.#fetchFor(turn, endpoint).catch((error: unknown) => {
        endpoint.hasFailed = true;
        fail(turn, error, endpoint.webhook.userId);
      });
    }
  }

  async #fetchFor(turn: Turn, endpoint: Endpoint): Promise<void> {
    const { webhook, limit, accounts, failed } = endpoint;
    if (webhook.isResumed) await this.#queue.resume(webhook);
    // Only once all fetched before are being sent.
    if (limit.pendingCount > 0) {
      turn.hasMore = true;
      return;
    }
    const due = await this.#queue.dueAccounts(webhook, ACCOUNTS_PER_FETCH);
    const found = due.filter((userId) => !accounts.has(userId) && !failed.has(userId));
    if (due.length === ACCOUNTS_PER_FETCH && found.length > 0) turn.hasMore = true;
    for (const userId of found) this.#begin(turn, endpoint, userId);
  }

  #begin(turn: Turn, endpoint: Endpoint, userId: string): void {
    const { limit, accounts, failed } = endpoint;
    const sent = limit(() => this.#sendSome(turn, endpoint, userId))
      .catch((error: unknown) => {
        failed.add(userId);
        fail(turn, error, userId);
      })
      .finally(() => accounts.delete(userId));
    accounts.set(userId, sent);
  }

  /** Brings the endpoints up to date: webhooks may have been switched on or off. */
  async #refresh(endpoints: Map<string, Endpoint>): Promise<void> {
    const active = new Map((await this.#queue.active()).map((each) => [idText(each._id), each]));
    for (const [id, { webhook }] of endpoints) webhook.active = active.has(id);
    for (const [id, webhook] of active) {
      const endpoint = endpoints.get(id);
      // The same object, which attempts in progress look at.
      if (endpoint) Object.assign(endpoint.webhook, webhook);
      else {
        const limit = pLimit(MAX_CONCURRENT);
        const sending = { accounts: new Map(), failed: new Set<string>(), hasFailed: false };
        endpoints.set(id, { webhook, limit, pace: pLimit(1), ...sending });
      }
    }
  }

  /** Sends the next deliveries of an account, in order, until one fails. */
  async #sendSome(turn: Turn, { webhook, pace }: Endpoint, userId: string): Promise<void> {
    if (!this.#mayContinue(turn)) return;
    await pace(() => sleep(PACE_MS));
    const deliveries = await this.#queue.next(webhook, userId, DELIVERIES_PER_FETCH);
    for (const delivery of deliveries) {
      if (!webhook.active || !this.#mayContinue(turn)) return;
      if (delivery.nextAttemptAt && delivery.nextAttemptAt.getTime() > Date.now()) {
        await this.#queue.postpone(webhook, delivery);
        return;
      }
      if (isStale(delivery)) {
        await this.#queue.settle(delivery, 'dropped');
        this.#outcomes.dropped += 1;
      } else if (!(await this.#attempt(turn, webhook, delivery))) return;
    }
    if (deliveries.length === DELIVERIES_PER_FETCH) turn.hasMore = true;
  }

  /** Returns whether the delivery succeeded. */
  async #attempt(turn: Turn, webhook: Webhook, delivery: Delivery): Promise<boolean> {
    const outcome = await this.#sender.send(webhook, delivery);
    const isDelivered = outcome.error === null;
    // An aborted attempt says nothing about the receiver.
    if (!isDelivered && turn.stopping.aborted) return false;
    await this.#queue.record(webhook, delivery, outcome);
    this.#outcomes[isDelivered ? 'delivered' : 'failed'] += 1;
    if (isDelivered) return true;
    if (outcome.status === 410) await this.#webhooks.switchOff(webhook, 'gone');
    else if (hasFailedTooLong(webhook) || hasFailedTooLong(delivery)) {
      await this.#webhooks.switchOff(webhook, 'failing');
    }
    return false;
  }
}

function fail(turn: Turn, error: unknown, userId: string): void {
  turn.failures.add(error, userId);
  // The others would fail too, one after the other.
  if (isConnectionError(error)) turn.endsAt = 0;
}

function hasFailedTooLong({ failingSince }: Webhook | Delivery): boolean {
  return failingSince !== null && Date.now() - failingSince.getTime() >= MAX_FAILING_MS;
}

/** Whether the only day on which a delivery is useful is over. */
function isStale({ dayIn, createdAt }: Delivery): boolean {
  if (dayIn === null) return false;
  const dayOf = calendarOf(dayIn);
  return dayOf(new Date()) !== dayOf(createdAt);
}
