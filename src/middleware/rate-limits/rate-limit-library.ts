import type { Context, Middleware } from 'koa';

/** After how many seconds a budget resets. */
export const WINDOW_SECONDS = 60;

/** Runs koa-ratelimit without the steps after it; returns whether the request may pass. */
export async function passes(limit: Middleware, ctx: Context): Promise<boolean> {
  let isLeft = false;
  await limit(ctx, async () => {
    isLeft = true;
  });
  return isLeft;
}

/** When a budget resets, in seconds. */
interface Entry {
  reset: number;
}

/** The memory driver of koa-ratelimit never deletes entries; this map deletes those that have expired. */
export class ExpiringMap extends Map<string, Entry> {
  override set(key: string, entry: Entry): this {
    const now = entry.reset - WINDOW_SECONDS;
    super.delete(key);
    // Insertion order is the order of expiry.
    for (const [old, { reset }] of this) {
      if (reset > now) break;
      super.delete(old);
    }
    return super.set(key, entry);
  }
}
