import { LRUCache } from 'lru-cache';

import { Content, etagOf } from '../core/content';
import type { Account } from '../core/identity';
import type { Metrics } from '../core/metrics';
import { PROJECT } from '../core/project';
import type { Operation } from '../plugins/operation';
import { operationName } from '../plugins/operation-facts';
import type { ValidInput } from './validate';

/** Which answer is asked for: it is the same as long as the account's revision is. */
export interface AnswerKey {
  name: string;
  revision: number;
}

interface CachedAnswer {
  content: Content;
  revision: number;
  validity: Validity;
}

/** The time in which an answer is what would be made anew, in milliseconds since 1970. */
interface Validity {
  /** When it was made: the clock may have been wrong, and set back since. */
  from: number;
  /** When time alone will make it another. */
  until: number;
}

/** Neither compressed form is longer than the body; both together rarely take half of it. */
const BYTES_PER_BODY_BYTE = 1.5;
const BYTES_PER_ANSWER = 1000;

/**
 * Answers to reads of an account's data. Such an answer follows from the data, and every write to
 * it moves the account's revision, which authentication has read from the database: so an
 * answer of the same revision is as good as one made anew, whatever process wrote meanwhile.
 */
export class AnswerCache {
  readonly #answers: LRUCache<string, CachedAnswer> | undefined;
  readonly #hits;
  readonly #misses;
  readonly #isSharded: boolean;

  /**
   * @param megabytes how much memory it may take; 0 for none
   * @param isSharded whether accounts and their data may be on different shards
   */
  constructor(
    { megabytes, isSharded }: { megabytes: number; isSharded: boolean },
    metrics: Metrics,
  ) {
    this.#isSharded = isSharded;
    this.#hits = metrics.counter('answer_cache_hits_total', 'Reads that were answered from memory');
    this.#misses = metrics.counter('answer_cache_misses_total', 'Reads whose answer was made anew');
    metrics.reading({
      name: 'answer_cache_bytes',
      help: 'Memory that cached answers take',
      read: () => this.#answers?.calculatedSize ?? 0,
    });
    if (megabytes === 0) return;
    this.#answers = new LRUCache({
      maxSize: megabytes * 1024 * 1024,
      sizeCalculation: ({ content }, name) =>
        Math.ceil(content.body.length * BYTES_PER_BODY_BYTE) + name.length + BYTES_PER_ANSWER,
    });
  }

  /** The key of a call's answer; undefined where the account's revision does not say what it is. */
  keyOf(
    operation: Operation,
    account: Account,
    { params, query, part }: ValidInput,
  ): AnswerKey | undefined {
    // Of a write to two shards the revision may be seen before the rest.
    if (!operation.cacheable || this.#isSharded) return undefined;
    const { id, createdAt, revision } = account;
    // An account that was deleted and made again begins with the revisions that it had.
    const name = [id, createdAt.getTime(), operationName(operation), params, query, part];
    return { name: JSON.stringify(name), revision };
  }

  get({ name, revision }: AnswerKey, now: Date): Content | undefined {
    const cached = this.#answers?.get(name);
    const isValid = cached?.revision === revision && isWithin(cached.validity, now);
    (isValid ? this.#hits : this.#misses).inc();
    return isValid ? cached.content : undefined;
  }

  set({ name, revision }: AnswerKey, content: Content, validity: Validity): void {
    this.#answers?.set(name, { content, revision, validity });
  }
}

function isWithin({ from, until }: Validity, now: Date): boolean {
  return from <= now.getTime() && now.getTime() < until;
}

/** An entity tag known before the answer is made: of what it is made from, and by which release. */
export function revisionEtag({ name, revision }: AnswerKey): string {
  return etagOf(`${PROJECT.version} ${revision} ${name}`);
}
