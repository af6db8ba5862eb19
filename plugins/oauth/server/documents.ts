import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';

/** How long a document that could not be fetched is not fetched again. */
const FAILED_MS = 60_000;
const MAX_FAILED = 1000;
/** How many are fetched at once; each may take seconds. */
const MAX_AT_ONCE = 8;

/** Fetches metadata documents and keys of clients. */
export class DocumentFetcher {
  readonly #limited = pLimit(MAX_AT_ONCE);
  /** URLs that failed recently. */
  readonly #failed = new LRUCache<string, true>({ max: MAX_FAILED, ttl: FAILED_MS });

  /** The library's `fetch`; the library itself refuses private addresses and long bodies. */
  readonly fetch = async (
    url: string | URL | Request,
    options?: RequestInit,
  ): Promise<Response> => {
    const name = url instanceof Request ? url.url : String(url);
    if (this.#failed.has(name)) {
      throw new Error('The document could not be fetched a moment ago.');
    }
    try {
      const answer = await this.#limited(() => fetch(url, options));
      if (answer.status !== 200) this.#failed.set(name, true);
      return answer;
    } catch (error) {
      this.#failed.set(name, true);
      throw error;
    }
  };
}
