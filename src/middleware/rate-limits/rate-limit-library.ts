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

/** A map whose entries expire after a window: the memory driver of koa-ratelimit never deletes any. */
export class ExpiringMap extends Map<string, unknown> {
  readonly #setAt = new Map<string, number>();

  override set(key: string, value: unknown): this {
    const now = performance.now();
    // Insertion order is the order of age.
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
