import cors from '@koa/cors';
import type { Middleware } from 'koa';

/** Lets scripts of all pages call, without credentials: what they get is for programs of anybody. */
export const anyOrigin: Middleware = cors({
  origin: '*',
  allowMethods: 'GET,POST',
  exposeHeaders: 'WWW-Authenticate',
  maxAge: 3600,
});
