import type { Middleware } from 'koa';
import { LRUCache } from 'lru-cache';

import { Content, etagOf } from '../core/http/content';
import type { Account } from '../core/identity';
import type { Metrics } from '../core/metrics';
import { PROJECT } from '../core/settings/project';
import type { Operation } from '../plugins/operation';
import { operationName } from '../plugins/operation-facts';
import { callerOf, type ResponseKey, type ValidInput } from './state';

interface CachedResponse {
  content: Content;
  revision: number;
  validity: Validity;
}

/** The time in which a response is what would be made anew, in milliseconds since 1970. */
interface Validity {
  /** When it was made: the clock may have been wrong, and set back since. */
  from: number;
  /** When time alone will make it another. */
  until: number;
}

/** Neither compressed form is longer than the body; both together rarely take half of it. */
const BYTES_PER_BODY_BYTE = 1.5;
const BYTES_PER_RESPONSE = 1000;

/**
 * Responses to reads of an account's data. Such a response follows from the data, and every write to
 * it moves the account's revision, which `authenticate` has read from the database: so a response of
 * the same revision is as good as one made anew, whatever process wrote meanwhile.
 */
export class ResponseCache {
  readonly #responses: LRUCache<string, CachedResponse> | undefined;
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
      read: () => this.#responses?.calculatedSize ?? 0,
    });
    if (megabytes === 0) return;
    this.#responses = new LRUCache({
      maxSize: megabytes * 1024 * 1024,
      sizeCalculation: ({ content }, name) =>
        Math.ceil(content.body.length * BYTES_PER_BODY_BYTE) + name.length + BYTES_PER_RESPONSE,
    });
  }

  /** The key of a call's answer; undefined where the account's revision does not say what it is. */
  keyOf(
    operation: Operation,
    account: Account,
    { params, query, part }: ValidInput,
  ): ResponseKey | undefined {
    // Of a write to two shards the revision may be seen before the rest.
    if (!operation.cacheable || this.#isSharded) return undefined;
    const { id, createdAt, revision } = account;
    // An account that was deleted and made again begins with the revisions that it had.
    const name = [id, createdAt.getTime(), operationName(operation), params, query, part];
    return { name: JSON.stringify(name), revision };
  }

  get({ name, revision }: ResponseKey, now: Date): Content | undefined {
    const cached = this.#responses?.get(name);
    const isValid = cached?.revision === revision && isWithin(cached.validity, now);
    (isValid ? this.#hits : this.#misses).inc();
    return isValid ? cached.content : undefined;
  }

  set({ name, revision }: ResponseKey, content: Content, validity: Validity): void {
    this.#responses?.set(name, { content, revision, validity });
  }
}

/** Answers from memory where it can, and keeps what was made for the next time. */
export function responseCache(operation: Operation, cache: ResponseCache): Middleware {
  return async function responseCache(ctx, next) {
    const { state } = ctx;
    const made = new Date();
    const key = cache.keyOf(operation, callerOf(ctx).account, state.input);
    state.responseKey = key;
    const kept = key && cache.get(key, made);
    if (kept) {
      state.content = kept;
      ctx.status = operation.response.status;
      return;
    }
    await next();
    const { content, validUntil = Infinity } = state;
    if (key && content) cache.set(key, content, { from: made.getTime(), until: validUntil });
  };
}

function isWithin({ from, until }: Validity, now: Date): boolean {
  return from <= now.getTime() && now.getTime() < until;
}

/** An entity tag known before the answer is made: of what it is made from, and by which release. */
export function revisionEtag({ name, revision }: ResponseKey): string {
  return etagOf(`${PROJECT.version} ${revision} ${name}`);
}
