import { reasonOf } from './values';

/** How many failing accounts are named. */
const MAX_NAMED = 20;

/** Some items of a piece of work failed; the others were done. */
export class PartialFailure extends Error {
  /**
   * @param cause the first failure
   * @param accounts the ids of accounts whose items failed, never to be logged as they are
   */
  constructor(
    override readonly cause: unknown,
    readonly accounts: readonly string[],
  ) {
    super(reasonOf(cause));
  }
}

/** Collects the failures of items, so that one that fails stops no other. */
export class Failures {
  readonly #accounts = new Set<string>();
  #first: { error: unknown } | undefined;

  /** @param account whose item it is, if it is one account's */
  add(error: unknown, account?: string): void {
    this.#first ??= { error };
    if (account !== undefined && this.#accounts.size < MAX_NAMED) this.#accounts.add(account);
  }

  /** @throws PartialFailure */
  throwIfAny(): void {
    if (this.#first) throw new PartialFailure(this.#first.error, [...this.#accounts]);
  }
}

interface Options<T> {
  /** The account of an item, for the log. */
  accountOf?: (item: T) => string | undefined;
  /** Ends the run before the next item. */
  isOver?: () => boolean;
}

/**
 * Runs work on each item, one after the other. One that fails stops no other.
 *
 * @throws PartialFailure at the end
 */
export async function forEachTried<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<unknown>,
  { accountOf, isOver = () => false }: Options<T> = {},
): Promise<void> {
  const failures = new Failures();
  for await (const item of items) {
    if (isOver()) break;
    await work(item).catch((error: unknown) => {
      failures.add(error, accountOf?.(item));
    });
  }
  failures.throwIfAny();
}
