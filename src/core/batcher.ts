import { setImmediate } from 'node:timers/promises';

import { within } from './timeout';

interface Batch<Item, Outcome> {
  items: Item[];
  outcome: Promise<Outcome>;
}

/**
 * Does together what comes while the batch before is in progress. A batch waits for the one before
 * it, but not for long: one that hangs must not hold up the others. Those that fill up meanwhile
 * begin together.
 */
export class Batcher<Item, Outcome> {
  readonly #run: (items: readonly Item[]) => Promise<Outcome>;
  readonly #most: number;
  readonly #patienceMs: number;
  #waiting: Batch<Item, Outcome> | undefined;
  /** Fulfilled when the latest batch has ended, whatever it came to. */
  #inProgress: Promise<unknown> | undefined;

  /**
   * @param run does a batch
   * @param limits how many items a batch has at most, and how long it waits for the one before it
   */
  constructor(
    run: (items: readonly Item[]) => Promise<Outcome>,
    { most, patienceMs }: { most: number; patienceMs: number },
  ) {
    this.#run = run;
    this.#most = most;
    this.#patienceMs = patienceMs;
  }

  /**
   * Does an item with others; answers what their batch comes to.
   *
   * @throws what the batch throws, for all that are in it
   */
  join(item: Item): Promise<Outcome> {
    const batch = (this.#waiting ??= this.#gather());
    batch.items.push(item);
    if (batch.items.length === this.#most) this.#waiting = undefined;
    return batch.outcome;
  }

  #gather(): Batch<Item, Outcome> {
    const items: Item[] = [];
    const outcome = this.#turn().then(() => {
      if (this.#waiting === batch) this.#waiting = undefined;
      return this.#begin(items);
    });
    const batch = { items, outcome };
    return batch;
  }

  #turn(): Promise<unknown> {
    return this.#inProgress ? within(this.#patienceMs, this.#inProgress) : setImmediate();
  }

  #begin(items: readonly Item[]): Promise<Outcome> {
    const outcome = this.#run(items);
    const ended = outcome.then(
      () => undefined,
      () => undefined,
    );
    this.#inProgress = ended;
    void ended.then(() => {
      if (this.#inProgress === ended) this.#inProgress = undefined;
    });
    return outcome;
  }
}
