import cors from '@koa/cors';
import type { Middleware } from 'koa';

/** Allows scripts of any origin, without credentials. */
export const anyOrigin: Middleware = cors({
  origin: '*',
  allowMethods: 'GET,POST',
  exposeHeaders: 'WWW-Authenticate',
  maxAge: 3600,
});
