import { serviceUnavailable } from '../core/errors';

type CallKind = 'read' | 'write';

/**
 * How many calls of an account are worked on at once. Reads build answers in memory, each by
 * itself; writes queue for one transaction that they share (see UnitOfWork).
 */
const MAX_PER_ACCOUNT: Readonly<Record<CallKind, number>> = { read: 8, write: 64 };
/** How many calls of all accounts are worked on at once. */
const MAX_CALLS = 256;
/** How many calls of an account, of either kind, and of all accounts may wait for their turn. */
const MAX_WAITING_PER_ACCOUNT = 200;
const MAX_WAITING = 1000;
/** How long a call waits before its caller is asked to come back. */
const MAX_WAIT_MS = 10_000;
/** How many bytes of answers clients may leave untaken before accounts get one call at a time. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;

interface Waiter {
  place: string;
  kind: CallKind;
  admit: () => void;
}

/**
 * Decides which calls are worked on now: a few of each account, so that no account keeps the others
 * waiting, and so many that their answers fit into memory. The rest wait for a bounded time.
 */
export class Admission {
  readonly #running = new Map<string, number>();
  readonly #waiting = new Set<Waiter>();
  #calls = 0;
  #unsentBytes = 0;

  /**
   * Waits for the call's turn.
   *
   * @param sent fulfilled when the caller is gone, which ends the wait
   * @returns to be called once the answer was sent
   * @throws ApiError service_unavailable when too many wait, or the turn does not come in time
   */
  async enter(kind: CallKind, accountId: string, sent: Promise<unknown>): Promise<() => void> {
    const place = `${kind} ${accountId}`;
    if (this.#mayRun(kind, place)) this.#start(place);
    else await this.#wait(kind, place, sent);
    return () => {
      this.#leave(place);
    };
  }

  /** Counts the bytes of an answer until it was sent; those of a stream are not held. */
  hold(bytes: number | undefined, sent: Promise<unknown>): void {
    if (bytes === undefined) return;
    this.#unsentBytes += bytes;
    void sent.then(() => {
      this.#unsentBytes -= bytes;
      this.#admitNext();
    });
  }

  #mayRun(kind: CallKind, place: string): boolean {
    const running = this.#running.get(place) ?? 0;
    return (
      this.#calls < MAX_CALLS &&
      running < (this.#unsentBytes < MAX_UNSENT_BYTES ? MAX_PER_ACCOUNT[kind] : 1)
    );
  }

  #start(place: string): void {
    this.#calls += 1;
    this.#running.set(place, (this.#running.get(place) ?? 0) + 1);
  }

  #leave(place: string): void {
    this.#calls -= 1;
    const running = (this.#running.get(place) ?? 0) - 1;
    if (running > 0) this.#running.set(place, running);
    else this.#running.delete(place);
    this.#admitNext();
  }

  #wait(kind: CallKind, place: string, sent: Promise<unknown>): Promise<void> {
    const ofPlace = [...this.#waiting].filter((each) => each.place === place).length;
    if (ofPlace >= MAX_WAITING_PER_ACCOUNT || this.#waiting.size >= MAX_WAITING) {
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
      const waiter = { place, kind, admit };
      this.#waiting.add(waiter);
      void sent.then(giveUp);
    });
  }

  #admitNext(): void {
    for (const { kind, place, admit } of this.#waiting) {
      if (this.#calls >= MAX_CALLS) return;
      if (this.#mayRun(kind, place)) admit();
    }
  }
}
