import { serviceUnavailable } from '../core/errors';
import { Pace } from '../core/pace';

/**
 * How long the answer of a call may be: as that of a read, as one of a write that is as long but
 * cannot be streamed, or as one record.
 */
type AnswerSize = 'long' | 'whole' | 'short';

/**
 * How many calls of an account are worked on at once. Those with long answers are until these were
 * sent; short ones are of writes, which mostly wait for a transaction that they then share (see
 * WriteQueue).
 */
const MAX_PER_ACCOUNT: Readonly<Record<AnswerSize, number>> = { long: 4, whole: 2, short: 200 };
/** How many of all accounts are, until their answers are made: clients that take none block nobody. */
const MAX_CALLS: Readonly<Record<AnswerSize, number>> = { long: 200, whole: 12, short: 1000 };
/** How many calls of one size of an account, and of all calls, may wait for their turn. */
const MAX_WAITING_PER_ACCOUNT = 200;
const MAX_WAITING = 1000;
/** How long a call waits before its caller is asked to come back. */
const MAX_WAIT_MS = 10_000;
/** How many bytes of answers clients may leave untaken before accounts get one call at a time. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
/** How many before nobody gets another long answer. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;
/** As how much an answer counts that is made while it is sent. */
const STREAM_BYTES = 1024 * 1024;

/**
 * How many bytes of answers come with each read of an account's budget, which counts calls, of which
 * the largest cost a thousand times as much as the smallest.
 */
const BYTES_PER_READ = 100 * 1024;
/** For how long an account may take its bytes ahead: by default some 1 MB. */
const BURST_MS = 500;
/** How far ahead it gets one read at a time: long answers made at once add up to a long wait. */
const REDUCED_BURST_MS = 250;
/** How much longer an account waits for its pace at most, however long a list or a month was. */
const MAX_PACE_MS = 3000;

/** The place of a call that is worked on. */
export interface Admitted {
  /** To be called once its answer is made. */
  made: () => void;
  /** To be called once its answer was sent. */
  sent: () => void;
}

/** Whose call it is, and of which size. */
interface Place {
  size: AnswerSize;
  accountId: string;
  /** Of both. */
  key: string;
}

interface Waiter extends Place {
  admit: () => void;
}

/**
 * Decides which calls are worked on now: a few of each account, so that no account keeps the others
 * waiting, and so many that their answers fit into memory. The rest wait for a bounded time.
 */
export class Admission {
  readonly #running = new Map<string, number>();
  readonly #waiting = new Set<Waiter>();
  readonly #calls: Record<AnswerSize, number> = { long: 0, whole: 0, short: 0 };
  readonly #pace: Pace;
  #unsentBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param readsPerMinute the budget of each account */
  constructor(readsPerMinute: number) {
    this.#pace = new Pace({
      perMinute: readsPerMinute * BYTES_PER_READ,
      burstMs: BURST_MS,
      maxWaitMs: MAX_PACE_MS,
    });
  }

  /**
   * Waits for the call's turn.
   *
   * @param sent fulfilled when the caller is gone, which ends the wait
   * @returns what is to be told how far it has come
   * @throws ApiError service_unavailable when too many wait, or the turn does not come in time
   */
  async enter(size: AnswerSize, accountId: string, sent: Promise<unknown>): Promise<Admitted> {
    const place = { size, accountId, key: `${size} ${accountId}` };
    if (this.#mayRun(place)) this.#start(place);
    else await this.#wait(place, sent);
    return {
      made: () => {
        this.#calls[size] -= 1;
        if (size === 'short') this.#leave(place);
        else this.#admitNext();
      },
      sent: () => {
        if (size !== 'short') this.#leave(place);
      },
    };
  }

  /** Counts the bytes of an answer until it was sent; those of a stream are not known. */
  hold(bytes = STREAM_BYTES, sent: Promise<unknown>): void {
    this.#unsentBytes += bytes;
    void sent.then(() => {
      this.#unsentBytes -= bytes;
      this.#admitNext();
    });
  }

  /** Counts the bytes of an answer, where they are known: the account may have to wait for more. */
  count(accountId: string, bytes: number | undefined): void {
    if (bytes !== undefined) this.#pace.count(accountId, bytes);
  }

  #mayRun(place: Place): boolean {
    const { size, key } = place;
    const running = this.#running.get(key) ?? 0;
    return (
      this.#calls[size] < MAX_CALLS[size] &&
      (size === 'short' || this.#unsentBytes < MAX_HELD_BYTES) &&
      this.#paceWaitOf(place) === 0 &&
      running < (this.#unsentBytes < MAX_UNSENT_BYTES ? MAX_PER_ACCOUNT[size] : 1)
    );
  }

  /** In how many ms the pace of its account allows one more; 0 where it does now. */
  #paceWaitOf({ size, accountId, key }: Place): number {
    if (size === 'short') return 0;
    return this.#pace.waitOf(accountId, this.#running.has(key) ? REDUCED_BURST_MS : BURST_MS);
  }

  #start({ size, key }: Place): void {
    this.#calls[size] += 1;
    this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
  }

  #leave({ key }: Place): void {
    const running = (this.#running.get(key) ?? 0) - 1;
    if (running > 0) this.#running.set(key, running);
    else this.#running.delete(key);
    this.#admitNext();
  }

  #wait(place: Place, sent: Promise<unknown>): Promise<void> {
    const ofAccount = [...this.#waiting].filter(({ key }) => key === place.key).length;
    if (ofAccount >= MAX_WAITING_PER_ACCOUNT || this.#waiting.size >= MAX_WAITING) {
      throw serviceUnavailable.error('Too many calls are waiting already.');
    }
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        if (!this.#waiting.delete(waiter)) return;
        clearTimeout(timer);
        reject(serviceUnavailable.error('Other calls took too long; this one was not made.'));
      };
      const timer = setTimeout(giveUp, MAX_WAIT_MS);
      const admit = (): void => {
        this.#waiting.delete(waiter);
        clearTimeout(timer);
        this.#start(place);
        resolve();
      };
      const waiter = { ...place, admit };
      this.#waiting.add(waiter);
      void sent.then(giveUp);
      this.#admitNext();
    });
  }

  #admitNext(): void {
    let soonest = Infinity;
    for (const waiter of this.#waiting) {
      if (this.#mayRun(waiter)) waiter.admit();
      else soonest = Math.min(soonest, this.#paceWaitOf(waiter) || Infinity);
    }
    clearTimeout(this.#timer);
    if (soonest === Infinity) return;
    this.#timer = setTimeout(() => {
      this.#admitNext();
    }, soonest).unref();
  }
}
