import { serviceUnavailable } from '../core/errors';

type CallKind = 'read' | 'write';

/**
 * How many calls of an account are worked on at once. Reads build answers in memory, each by
 * itself; writes mostly wait for a transaction that they then share (see UnitOfWork).
 */
const MAX_PER_ACCOUNT: Readonly<Record<CallKind, number>> = { read: 4, write: 200 };
/** How many calls of all accounts are worked on at once. */
const MAX_CALLS: Readonly<Record<CallKind, number>> = { read: 200, write: 1000 };
/** How many calls of one kind of an account, and of all calls, may wait for their turn. */
const MAX_WAITING_PER_ACCOUNT = 200;
const MAX_WAITING = 1000;
/** How long a call waits before its caller is asked to come back. */
const MAX_WAIT_MS = 10_000;
/** How many bytes of answers clients may leave untaken before accounts get one call at a time. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;

interface Waiter {
  key: string;
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
  readonly #calls: Record<CallKind, number> = { read: 0, write: 0 };
  #unsentBytes = 0;

  /**
   * Waits for the call's turn.
   *
   * @param sent fulfilled when the caller is gone, which ends the wait
   * @returns to be called once the answer was sent
   * @throws ApiError service_unavailable when too many wait, or the turn does not come in time
   */
  async enter(kind: CallKind, accountId: string, sent: Promise<unknown>): Promise<() => void> {
    const key = `${kind} ${accountId}`;
    if (this.#mayRun(kind, key)) this.#start(kind, key);
    else await this.#wait(kind, key, sent);
    return () => {
      this.#leave(kind, key);
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

  #mayRun(kind: CallKind, key: string): boolean {
    const running = this.#running.get(key) ?? 0;
    return (
      this.#calls[kind] < MAX_CALLS[kind] &&
      running < (this.#unsentBytes < MAX_UNSENT_BYTES ? MAX_PER_ACCOUNT[kind] : 1)
    );
  }

  #start(kind: CallKind, key: string): void {
    this.#calls[kind] += 1;
    this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
  }

  #leave(kind: CallKind, key: string): void {
    this.#calls[kind] -= 1;
    const running = (this.#running.get(key) ?? 0) - 1;
    if (running > 0) this.#running.set(key, running);
    else this.#running.delete(key);
    this.#admitNext();
  }

  #wait(kind: CallKind, key: string, sent: Promise<unknown>): Promise<void> {
    const ofAccount = [...this.#waiting].filter((each) => each.key === key).length;
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
        this.#start(kind, key);
        resolve();
      };
      const waiter = { key, kind, admit };
      this.#waiting.add(waiter);
      void sent.then(giveUp);
    });
  }

  #admitNext(): void {
    for (const { kind, key, admit } of this.#waiting) {
      if (this.#mayRun(kind, key)) admit();
    }
  }
}
