import { setTimeout as sleep } from 'node:timers/promises';

import pLimit, { type LimitFunction } from 'p-limit';

import { Failures } from '../../src/core/each';
import { idText } from '../../src/core/ids';
import type { Reading } from '../../src/core/metrics';
import { calendarOf } from '../../src/core/time';
import { isConnectionError } from '../../src/data/mongodb/errors';
import type { Lease } from '../../src/data/schema/lease';
import type { Host } from '../../src/plugins/host';
import type { Job } from '../../src/plugins/plugin';
import { type Channel, type Lane, TIMEOUT_MS } from './channel';
import { type Delivery, laneOf } from './model';
import type { Poster } from './poster';
import type { DeliveryQueue, Recipient } from './queue';

/** The pause before each recipient of a lane: requests to the API would wait for a burst of deliveries. */
const PACE_MS = 5;
/** How many recipients are fetched at once, and how many deliveries of one recipient. */
const RECIPIENTS_PER_FETCH = 500;
const DELIVERIES_PER_FETCH = 20;
const FETCH_EVERY_MS = 200;
/** How long one process delivers before it gives up the lease. */
const TURN_MS = 10 * 60_000;
/** How much longer than an attempt the lease must last, so that no other process repeats the attempt. */
const LEASE_MARGIN_MS = 500;

/** A channel and what became of its deliveries in this process. */
interface Open {
  channel: Channel;
  queue: DeliveryQueue;
  outcomes: { delivered: number; failed: number; dropped: number };
}

/** A lane whose deliveries are being sent. */
interface Sending extends Open {
  lane: Lane;
  limit: LimitFunction;
  /** Lets recipients begin one after the other. */
  pace: LimitFunction;
  /** Recipients whose deliveries are being sent or queued to be. */
  recipients: Map<string, Promise<void>>;
  /** Recipients that are left to the next turn, since an error of ours stopped their deliveries. */
  failed: Set<string>;
  /** Whether it is itself left to the next turn. */
  hasFailed: boolean;
}

/** One turn of a process that holds the lease. */
interface Turn {
  endsAt: number;
  stopping: AbortSignal;
  /** By lane. */
  sending: Map<string, Sending>;
  failures: Failures;
  /** Whether more deliveries may be due than were fetched. */
  hasMore: boolean;
}

/** Sends due deliveries of all channels. One process at a time holds a lease, so none is sent twice at once. */
export class Dispatcher {
  readonly #poster: Poster;
  readonly #lease: Lease;
  readonly #open: Open[] = [];

  constructor(host: Host, poster: Poster) {
    this.#poster = poster;
    // Earlier versions, which sent webhooks only, take turns with this one.
    this.#lease = host.lease('webhook deliveries');
  }

  /** Sends the deliveries of a channel too; returns its metrics. */
  open(channel: Channel, queue: DeliveryQueue): Reading[] {
    const outcomes = { delivered: 0, failed: 0, dropped: 0 };
    this.#open.push({ channel, queue, outcomes });
    const { name } = channel;
    return [
      {
        name: `${name}_deliveries_total`,
        help: 'Attempts to deliver, by outcome; dropped ones were too late, or not wanted any more',
        label: 'outcome',
        isTotal: true,
        read: () => ({ ...outcomes }),
      },
      {
        name: `${name}_oldest_waiting_seconds`,
        help: 'How long the oldest delivery that is to be sent has waited',
        read: async () => queue.oldestSeconds(await lanesOf(channel)),
      },
    ];
  }

  get job(): Job {
    return {
      name: 'webhook delivery',
      everySeconds: 1,
      run: async (stopping) => {
        if (await this.#isDue()) await this.#lease.try(() => this.#dispatch(stopping));
      },
    };
  }

  async #isDue(): Promise<boolean> {
    for (const { channel, queue } of this.#open) {
      for (const lane of await lanesOf(channel)) if (await queue.isDue(lane)) return true;
    }
    return false;
  }

  /** Sends until nothing more is due. */
  async #dispatch(stopping: AbortSignal): Promise<void> {
    const abort = (): void => {
      this.#poster.abort();
      for (const { channel } of this.#open) channel.abort?.();
    };
    stopping.addEventListener('abort', abort);
    const turn: Turn = {
      endsAt: performance.now() + TURN_MS,
      stopping,
      sending: new Map(),
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
      const sending = [...turn.sending.values()].flatMap(({ recipients }) => [
        ...recipients.values(),
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

  /** Begins to send to recipients with due deliveries. */
  async #fetch(turn: Turn): Promise<void> {
    turn.hasMore = false;
    for (const open of this.#open) await this.#refresh(turn, open);
    for (const sending of turn.sending.values()) {
      const { lane, hasFailed } = sending;
      if (!lane.active || hasFailed) continue;
      await this.#fetchFor(turn, sending).catch((error: unknown) => {
        sending.hasFailed = true;
        fail(turn, error, lane.userId);
      });
    }
  }

  async #fetchFor(turn: Turn, sending: Sending): Promise<void> {
    const { channel, queue, lane, limit, recipients, failed } = sending;
    if (lane.isResumed) {
      await queue.resume(lane);
      await channel.resumed?.(lane);
    }
    // Only once all fetched before are being sent.
    if (limit.pendingCount > 0) {
      turn.hasMore = true;
      return;
    }
    const due = await queue.due(lane, RECIPIENTS_PER_FETCH);
    const found = due
      .map((recipient) => ({ recipient, key: keyOf(recipient) }))
      .filter(({ key }) => !recipients.has(key) && !failed.has(key));
    if (due.length === RECIPIENTS_PER_FETCH && found.length > 0) turn.hasMore = true;
    for (const { recipient, key } of found) this.#begin(turn, sending, recipient, key);
  }

  #begin(turn: Turn, sending: Sending, recipient: Recipient, key: string): void {
    const { limit, recipients, failed } = sending;
    const sent = limit(() => this.#sendSome(turn, sending, recipient))
      .catch((error: unknown) => {
        failed.add(key);
        fail(turn, error, recipient.userId);
      })
      .finally(() => recipients.delete(key));
    recipients.set(key, sent);
  }

  /** Brings the lanes of a channel up to date: they may have been switched on or off. */
  async #refresh({ sending }: Turn, open: Open): Promise<void> {
    const { channel } = open;
    const active = new Map((await lanesOf(channel)).map((each) => [idText(each._id), each]));
    for (const [id, each] of sending) {
      if (each.channel === channel) each.lane.active = active.has(id);
    }
    for (const [id, lane] of active) {
      const known = sending.get(id);
      // The same object, which attempts in progress look at.
      if (known) Object.assign(known.lane, lane);
      else {
        const limits = { limit: pLimit(channel.concurrency), pace: pLimit(1) };
        const none = { recipients: new Map(), failed: new Set<string>(), hasFailed: false };
        sending.set(id, { ...open, lane, ...limits, ...none });
      }
    }
  }

  /** Sends the next deliveries to a recipient, in order, until one fails. */
  async #sendSome(turn: Turn, sending: Sending, recipient: Recipient): Promise<void> {
    const { channel, queue, lane, outcomes, pace } = sending;
    if (!this.#mayContinue(turn)) return;
    await pace(() => sleep(channel.paceMs ?? PACE_MS));
    const deliveries = await queue.next(lane, recipient, DELIVERIES_PER_FETCH);
    for (const delivery of deliveries) {
      if (!lane.active || !this.#mayContinue(turn)) return;
      if (delivery.nextAttemptAt && delivery.nextAttemptAt.getTime() > Date.now()) {
        await queue.postpone(lane, delivery);
        return;
      }
      const outcome = isStale(delivery) ? 'dropped' : await this.#attempt(turn, sending, delivery);
      if (outcome === undefined) return;
      outcomes[outcome] += 1;
      if (outcome === 'failed') return;
      if (outcome === 'dropped') await queue.settle(channel, delivery, 'dropped');
      if (delivery.spacedMs) {
        // Others may have been postponed since they were read.
        turn.hasMore = true;
        return;
      }
    }
    if (deliveries.length === DELIVERIES_PER_FETCH) turn.hasMore = true;
  }

  /** Returns undefined if the attempt was aborted, which says nothing about the receiver. */
  async #attempt(
    turn: Turn,
    { channel, queue, lane }: Sending,
    delivery: Delivery,
  ): Promise<keyof Open['outcomes'] | undefined> {
    const outcome = await channel.send(delivery, lane);
    if (outcome === undefined) return 'dropped';
    const isDelivered = outcome.error === null;
    if (!isDelivered && turn.stopping.aborted) return undefined;
    await queue.record(channel, lane, delivery, outcome);
    await channel.recorded?.(delivery, outcome, lane);
    return isDelivered ? 'delivered' : 'failed';
  }
}

async function lanesOf(channel: Channel): Promise<Lane[]> {
  return channel.lanes?.() ?? [{ _id: laneOf(channel.name), active: true }];
}

function keyOf({ userId, destinationId }: Recipient): string {
  return `${userId} ${destinationId ? idText(destinationId) : ''}`;
}

function fail(turn: Turn, error: unknown, userId?: string): void {
  turn.failures.add(error, userId);
  // The others would fail too, one after the other.
  if (isConnectionError(error)) turn.endsAt = 0;
}

/** Whether a delivery is of no use any more. */
function isStale({ dayIn, dropAt, createdAt }: Delivery): boolean {
  if (dropAt && dropAt.getTime() <= Date.now()) return true;
  if (dayIn === null) return false;
  const dayOf = calendarOf(dayIn);
  return dayOf(new Date()) !== dayOf(createdAt);
}
