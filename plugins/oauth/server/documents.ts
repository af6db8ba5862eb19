import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';

/** How long a document that could not be fetched is not fetched again. */
const FAILED_MS = 60_000;
const MAX_FAILED = 1000;
/** How many are fetched at once; each may take seconds. */
const MAX_AT_ONCE = 8;

/**
 * Returns a `fetch` for metadata documents and keys of clients. The library itself refuses private
 * addresses and long bodies.
 */
export function documentFetch(): typeof fetch {
  const limited = pLimit(MAX_AT_ONCE);
  const failed = new LRUCache<string, true>({ max: MAX_FAILED, ttl: FAILED_MS });
  return async (url, options) => {
    const name = url instanceof Request ? url.url : String(url);
    if (failed.has(name)) throw new Error('The document could not be fetched a moment ago.');
    let isFetched = false;
    try {
      const answer = await limited(() => fetch(url, options));
      isFetched = answer.status === 200;
      return answer;
    } finally {
      if (!isFetched) failed.set(name, true);
    }
  };
}
