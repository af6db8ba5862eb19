import { setImmediate } from 'node:timers/promises';

import DataLoader from 'dataloader';

import { withTimeout } from './async';

/** How long a query waits for the one before it. */
const MAX_DELAY_MS = 5;
/** After this time a query is sent again: its connection may be lost. */
const RESEND_MS = 1000;
const MAX_KEYS = 1000;

/**
 * Looks up values by key, many in one query: calls made during a query share the next one, so a value
 * is never older than its call.
 */
export class BatchLookup<Value> {
  readonly #query: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  readonly #loader;
  /** Fulfilled when the latest query ends. */
  #inProgress: Promise<unknown> | undefined;

  /**
   * @param query finds the values of keys; missing ones are left out
   * @param most the maximum number of keys in a query
   */
  constructor(
    query: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
    most = MAX_KEYS,
  ) {
    this.#query = query;
    this.#loader = new DataLoader<string, Value | undefined>((keys) => this.#load(keys), {
      cache: false,
      maxBatchSize: most,
      batchScheduleFn: (dispatch) => {
        const turn = this.#inProgress
          ? withTimeout(MAX_DELAY_MS, this.#inProgress)
          : setImmediate(undefined);
        void turn.then(dispatch);
      },
    });
  }

  /**
   * Returns the value of a key, or undefined.
   *
   * @throws what the query throws, to all calls that share it
   */
  get(key: string): Promise<Value | undefined> {
    return this.#loader.load(key);
  }

  async #load(keys: readonly string[]): Promise<(Value | undefined)[]> {
    const sent = this.#send([...new Set(keys)]);
    const ended = sent
      .catch(() => undefined)
      .then(() => {
        if (this.#inProgress === ended) this.#inProgress = undefined;
      });
    this.#inProgress = ended;
    const found = await sent;
    return keys.map((key) => found.get(key));
  }

  async #send(keys: readonly string[]): Promise<ReadonlyMap<string, Value>> {
    let timer: NodeJS.Timeout | undefined;
    const again = new Promise<ReadonlyMap<string, Value>>((resolve, reject) => {
      timer = setTimeout(() => {
        this.#query(keys).then(resolve, reject);
      }, RESEND_MS);
    });
    try {
      return await Promise.race([this.#query(keys), again]);
    } finally {
      clearTimeout(timer);
    }
  }
}
