import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';

/** For how long a document that could not be had is not asked for again. */
const FAILED_MS = 60_000;
const MAX_FAILED = 1000;
/** How many are fetched at once: each may take some seconds. */
const MAX_AT_ONCE = 8;

/** Fetches the documents in which programs say of themselves what they are. */
export class DocumentFetcher {
  readonly #limited = pLimit(MAX_AT_ONCE);
  /** Documents that could not be had a moment ago. */
  readonly #failed = new LRUCache<string, true>({ max: MAX_FAILED, ttl: FAILED_MS });

  /** As the library's own `fetch`, which refuses private addresses and long bodies itself. */
  readonly fetch = async (
    url: string | URL | Request,
    options?: RequestInit,
  ): Promise<Response> => {
    const name = url instanceof Request ? url.url : String(url);
    if (this.#failed.has(name)) {
      throw new Error('The document could not be had a moment ago.');
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
