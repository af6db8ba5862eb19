import type { Middleware } from 'koa';
import compose from 'koa-compose';

import type { MongoHealth } from '../data/mongodb/mongo-health';

/** Runs steps that read, which get 503 while MongoDB does not respond, and then the rest of the chain. */
export function failFast({ mongo }: { mongo: MongoHealth }, steps: Middleware[]): Middleware {
  const inner = compose(steps);
  const run: Middleware = async (ctx, next) => {
    await mongo.failFast(() => inner(ctx, async () => undefined));
    await next();
  };
  // Shown by `audit routes`.
  const value = `failFast(${steps.map(({ name }) => name).join(' ')})`;
  return Object.defineProperty(run, 'name', { value });
}
