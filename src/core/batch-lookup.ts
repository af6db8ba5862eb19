import { setImmediate } from 'node:timers/promises';

import { within } from './timeout';

/** How long a query waits for the one before it: one that hangs must not hold up the others. */
const PATIENCE_MS = 5;
/** A query without an answer for so long is sent again: its connection may be lost. */
const LOST_MS = 1000;
/** How many keys a query may have. */
const MAX_KEYS = 1000;

interface Batch<Value> {
  keys: Set<string>;
  found: Promise<ReadonlyMap<string, Value>>;
}

/**
 * Looks up values by their keys, many in one query: calls that come while a query is in progress
 * share the next one. So a value is never older than the call that asked for it.
 */
export class BatchLookup<Value> {
  readonly #query: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  #waiting: Batch<Value> | undefined;
  /** Fulfilled when the latest query has ended, whatever it came to. */
  #inProgress: Promise<unknown> | undefined;

  /** @param query finds the values of keys; those that are not there are left out */
  constructor(query: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>) {
    this.#query = query;
  }

  /**
   * The value of a key; undefined where there is none.
   *
   * @throws what the query throws, for all who share it
   */
  async get(key: string): Promise<Value | undefined> {
    const batch = (this.#waiting ??= this.#gather());
    batch.keys.add(key);
    if (batch.keys.size === MAX_KEYS) this.#waiting = undefined;
    return (await batch.found).get(key);
  }

  #gather(): Batch<Value> {
    const keys = new Set<string>();
    const found = this.#turn().then(() => {
      if (this.#waiting === batch) this.#waiting = undefined;
      return this.#run([...keys]);
    });
    const batch = { keys, found };
    return batch;
  }

  #turn(): Promise<unknown> {
    return this.#inProgress ? within(PATIENCE_MS, this.#inProgress) : setImmediate();
  }

  async #run(keys: readonly string[]): Promise<ReadonlyMap<string, Value>> {
    const found = this.#ask(keys);
    const ended = found.then(
      () => undefined,
      () => undefined,
    );
    this.#inProgress = ended;
    void ended.then(() => {
      if (this.#inProgress === ended) this.#inProgress = undefined;
    });
    return found;
  }

  async #ask(keys: readonly string[]): Promise<ReadonlyMap<string, Value>> {
    let timer: NodeJS.Timeout | undefined;
    const again = new Promise<ReadonlyMap<string, Value>>((resolve, reject) => {
      timer = setTimeout(() => {
        this.#query(keys).then(resolve, reject);
      }, LOST_MS);
    });
    try {
      return await Promise.race([this.#query(keys), again]);
    } finally {
      clearTimeout(timer);
    }
  }
}
