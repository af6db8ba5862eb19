import type { Context, Middleware } from 'koa';

/** In how many seconds a budget is whole again. */
export const WINDOW_SECONDS = 60;

/** Runs koa-ratelimit without the steps behind it; returns whether it would let the request pass. */
export async function passes(limit: Middleware, ctx: Context): Promise<boolean> {
  let isLeft = false;
  await limit(ctx, async () => {
    isLeft = true;
  });
  return isLeft;
}

/** A map that forgets what was set a window ago: the memory driver of koa-ratelimit never does. */
export class ExpiringMap extends Map<string, unknown> {
  readonly #setAt = new Map<string, number>();

  override set(key: string, value: unknown): this {
    const now = performance.now();
    // Insertion order is the order of age, so the old ones are at the front.
    for (const [old, at] of this.#setAt) {
      if (at > now - WINDOW_SECONDS * 1000) break;
      this.#setAt.delete(old);
      this.delete(old);
    }
    this.#setAt.delete(key);
    this.#setAt.set(key, now);
    return super.set(key, value);
  }
}
