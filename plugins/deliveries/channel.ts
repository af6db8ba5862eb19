import type { StoredId } from '../../src/core/ids';
import type { Delivery } from './model';

/** The result of an attempt. */
export interface Outcome {
  /** Of the response; null when there was none. */
  status: number | null;
  /** Why it failed, in a sentence; null when it succeeded. */
  error: string | null;
}

/** Deliveries that wait for none of other lanes. */
export interface Lane {
  _id: StoredId;
  /** The account that errors of the lane itself belong to. */
  userId?: string;
  /** Whether its deliveries are sent; the dispatcher looks at it between attempts. */
  active: boolean;
  /** Whether it was switched on, and its waiting deliveries are yet to be made due. */
  isResumed?: boolean;
}

/**
 * A way to reach programs or people. The deliveries of a lane to the same destination and about the same account
 * are sent one at a time, in order; others side by side.
 */
export interface Channel<L extends Lane = Lane> {
  /** Begins the names of its metrics: `webhook`. */
  readonly name: string;
  /** How many deliveries of a lane are sent at once. */
  readonly concurrency: number;
  /** The pause before each recipient of a lane, in milliseconds; 5 unless given. */
  readonly paceMs?: number;
  /** How long finished deliveries are kept; 7 days unless given. */
  readonly keptMs?: number;
  /** The longest pause between two attempts. The first is 5 s, and each is twice the one before. */
  readonly longestPauseMs: number;
  /** The lanes that deliveries are sent of; without it, all share {@link laneOf}. */
  lanes?(): Promise<L[]>;
  /** Records that the waiting deliveries of a lane were made due. */
  resumed?(lane: L): Promise<void>;
  /**
   * Makes one attempt, within {@link TIMEOUT_MS}. It does not throw for what the receiver does.
   *
   * @returns undefined if nobody wants the delivery any more: it is dropped
   */
  send(delivery: Delivery, lane: L): Promise<Outcome | undefined>;
  /** Acts on the outcome of an attempt, once it is recorded. */
  recorded?(delivery: Delivery, outcome: Outcome, lane: L): Promise<void>;
  /** Ends attempts in progress, since the server stops; those of the `Poster` end by themselves. */
  abort?(): void;
}

/** How long an attempt may take. */
export const TIMEOUT_MS = 10_000;
