import type { Middleware } from 'koa';
import { LRUCache } from 'lru-cache';

import { Content, etagOf } from '../core/http/content';
import type { Account } from '../core/identity';
import type { Metrics } from '../core/metrics';
import { PROJECT } from '../core/settings/project';
import type { Operation } from '../plugins/operation';
import { operationName } from '../plugins/operation-facts';
import { ownerOf, type ResponseKey, type ValidInput } from './state';

interface CachedResponse {
  content: Content;
  revision: number;
  validity: Validity;
}

/** When a response is valid, in milliseconds since 1970. */
interface Validity {
  /** When it was made: the clock may have been set back since. */
  from: number;
  /** When it expires by time alone. */
  until: number;
}

/** Both compressed forms together rarely take half as much as the body. */
const BYTES_PER_BODY_BYTE = 1.5;
const BYTES_PER_RESPONSE = 1000;

/**
 * Caches responses to reads. A response depends on the data of the account alone, and every write by
 * any process increments the account's revision, which `authenticate` has just read. So a response of
 * the same revision is up to date.
 */
export class ResponseCache {
  readonly #responses: LRUCache<string, CachedResponse> | undefined;
  readonly #hits;
  readonly #misses;
  readonly #isSharded: boolean;

  /**
   * @param megabytes memory limit; 0 disables the cache
   * @param isSharded whether accounts and their data may be on different shards
   */
  constructor(
    { megabytes, isSharded }: { megabytes: number; isSharded: boolean },
    metrics: Metrics,
  ) {
    this.#isSharded = isSharded;
    this.#hits = metrics.counter('answer_cache_hits_total', 'Reads served from the cache');
    this.#misses = metrics.counter('answer_cache_misses_total', 'Reads not found in the cache');
    metrics.reading({
      name: 'answer_cache_bytes',
      help: 'Memory used by cached responses',
      read: () => this.#responses?.calculatedSize ?? 0,
    });
    if (megabytes === 0) return;
    this.#responses = new LRUCache({
      maxSize: megabytes * 1024 * 1024,
      sizeCalculation: ({ content }, name) =>
        Math.ceil(content.body.length * BYTES_PER_BODY_BYTE) + name.length + BYTES_PER_RESPONSE,
    });
  }

  /** The cache key of a call; undefined if its response cannot be cached. */
  keyOf(
    operation: Operation,
    account: Account,
    { params, query, page }: ValidInput,
  ): ResponseKey | undefined {
    // The revision on one shard may be visible before the data on another.
    if (!operation.cacheable || this.#isSharded) return undefined;
    const { id, createdAt, revision } = account;
    // The revisions of an account that was deleted and created again start over.
    const name = [id, createdAt.getTime(), operationName(operation), params, query, page];
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

/** Responds from the cache, or caches the response. */
export function responseCache(operation: Operation, cache: ResponseCache): Middleware {
  return async function responseCache(ctx, next) {
    const { state } = ctx;
    const made = new Date();
    const key = cache.keyOf(operation, ownerOf(ctx), state.input);
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

/** The ETag of a response that is not made yet: a hash of its key, its revision and the release. */
export function revisionEtag({ name, revision }: ResponseKey): string {
  return etagOf(`${PROJECT.version} ${revision} ${name}`);
}
