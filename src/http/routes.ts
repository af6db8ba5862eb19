import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import cors from '@koa/cors';
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import compose from 'koa-compose';

import { ApiError, methodNotAllowed, notFound, serviceUnavailable } from '../core/errors';
import { refuseBackend } from '../middleware/require-scope';
import { bodyParserOf } from '../middleware/body-parser';
import { recordedError } from '../middleware/client-error';
import { enterBoundAgain } from '../middleware/garden';
import { authentication, chainOf, type Services, toolChainOf } from '../middleware/chain';
import { clientBudget } from '../middleware/limits/rate-limits';
import { callerOf } from '../middleware/state';
import { operationName } from '../plugins/operation-facts';
import type {
  ApiDescription,
  CallResult,
  ProtocolApi,
  ProtocolMethod,
} from '../plugins/protocol-endpoint';
import type { Lifecycle } from './request-log';

/** Returns the middleware that routes requests to operations and to protocol endpoints. */
export function routes(description: ApiDescription, services: Services): Middleware[] {
  const router = new Router({ sensitive: true, strict: true });
  const paths = new Set(description.operations.map(({ path }) => path));
  const add = (method: string, at: readonly string[], name: string, chain: Middleware): void => {
    // The router types its context more narrowly than what it passes.
    router.register(at.map(routerPath), [method.toLowerCase()], chain as never, { name });
  };
  for (const operation of description.operations) {
    const { method, path } = operation;
    const name = operationName(operation);
    const chain = compose([named(name), ...chainOf(operation, services)]);
    // A literal path takes precedence: `/api/records/delete` is not the record `delete`.
    const unlessOther: Middleware = (ctx, next) => (paths.has(ctx.path) ? next() : chain(ctx));
    add(method, [path], name, path.includes('{') ? unlessOther : (ctx) => chain(ctx));
  }
  const api = protocolApi(description, services);
  for (const protocol of description.protocols) {
    const { path, withSlash = false, anyOrigin: isOpen = false, methods, prepare } = protocol;
    prepare?.(description);
    const options = compose<Context>([anyOrigin, refuse]);
    if (isOpen) add('OPTIONS', [path], path, (ctx) => options(ctx, done));
    for (const [method, endpoint] of Object.entries(methods)) {
      const name = operationName({ method, path });
      const chain = compose([
        named(name, endpoint),
        ...(isOpen ? [anyOrigin] : []),
        ...protocolChain(endpoint, api, services),
      ]);
      add(method, [path, ...(withSlash ? [`${path}/`] : [])], name, (ctx) => chain(ctx));
    }
  }
  return [router.routes() as unknown as Middleware, refuse];
}

/** Returns `/api/records/{id}` in the router's syntax. */
function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Names the operation of a request for its log line and metrics, and notes how it shows errors. */
function named(
  operation: string,
  { isProbe = false, showError }: Pick<ProtocolMethod, 'isProbe' | 'showError'> = {},
): Middleware {
  return (ctx, next) => {
    Object.assign(ctx.state, { operation, isProbe, showError });
    return next();
  };
}

/**
 * A protocol endpoint authenticates by itself; if it forgets to, the request fails. Only afterwards is
 * it known whether a message called an operation: one that called none spends a read.
 */
function protocolChain(
  method: ProtocolMethod,
  api: ProtocolApi,
  { rateLimits }: Services,
): Middleware[] {
  const handle = (ctx: Context): Promise<void> => method.handler(ctx, api);
  if ('public' in method.access) return [rateLimits.anonymous(method), handle];
  const spend = async (ctx: Context): Promise<void> => {
    const { principal, isCall = false } = ctx.state;
    if (principal && !isCall) await rateLimits.of('reads').spend(ctx);
  };
  return [
    async (ctx) => {
      try {
        await handle(ctx);
      } catch (error) {
        const isRefusal = error instanceof ApiError && error.status < 500;
        await spend(ctx).catch((refusal: unknown) => {
          // It must not hide a failure of the program.
          if (isRefusal) throw refusal;
        });
        throw error;
      }
      await spend(ctx);
      if (!ctx.state.principal && ctx.status < 400) {
        throw new Error(`${ctx.path} responded without authenticating the caller.`);
      }
    },
  ];
}

const done = async (): Promise<void> => undefined;

function protocolApi(description: ApiDescription, services: Services): ProtocolApi {
  const { rateLimits, concurrency } = services;
  const authenticateToken = compose(authentication(services));
  const parseBody = bodyParserOf({ isRequired: true });
  const chains = new Map(
    description.operations
      .map((operation) => ('name' in operation.tool && operation.tool.instead) || operation)
      .map((operation) => [operation, compose(toolChainOf(operation, services))]),
  );
  return {
    ...description,
    authenticate: async (ctx) => {
      await authenticateToken(ctx, done);
      await refuseBackend(ctx, done);
      return callerOf(ctx);
    },
    clientOf: clientBudget,
    refuseSpent: (ctx) => rateLimits.refuseSpent(ctx),
    recordFailure: (ctx) => rateLimits.authFailures.spend(ctx),
    limitExport: concurrency.exports,
    readJson: async (ctx) => {
      await parseBody(ctx, done);
      await enterBoundAgain(ctx);
      return ctx.request.body;
    },
    call: async (operation, given, ctx): Promise<CallResult> => {
      const chain = chains.get(operation);
      if (!chain) throw new Error(`${operationName(operation)} is not served here.`);
      const { state } = ctx;
      state.isCall = true;
      const call = ctx.app.createContext(ctx.req, ctx.res);
      let finish: () => void = () => undefined;
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      // A request may make several calls, which must not wait for each other until it is answered.
      const sent = Promise.race([state.sent, finished]);
      call.state = { ...state, given, sent };
      try {
        await chain(call);
        const { content, code } = call.state;
        if (code !== undefined) state.code = code;
        const json = content ? content.body.toString() : await textOf(call.body);
        return { status: call.status, json };
      } catch (error) {
        throw recordedError(ctx, error);
      } finally {
        finish();
      }
    },
  };
}

/** The body of a response to a write, or of a long list, which is a stream. */
async function textOf(body: unknown): Promise<string> {
  return body instanceof Readable ? text(body) : String(body);
}

/** Handles requests that no route matches: 405 and OPTIONS for a known path, else 404. */
const refuse: Middleware = (ctx) => {
  // The router lists every route whose path matched, whatever its method.
  const matched = (ctx['matched'] ?? []) as { path: string; methods: string[] }[];
  if (matched.length === 0) throw notFound.error();
  const own = matched.filter(({ path }) => path === ctx.path);
  const layers = own.length > 0 ? own : matched;
  const methods = new Set(layers.flatMap((layer) => layer.methods));
  methods.delete('OPTIONS');
  const allowed = [...methods].join(', ');
  ctx.set('Allow', allowed);
  if (ctx.method !== 'OPTIONS') throw methodNotAllowed.error(`This path allows only ${allowed}.`);
  ctx.status = 204;
};

/** Allows scripts of any origin, without credentials. */
const anyOrigin: Middleware = cors({
  origin: '*',
  allowMethods: 'GET,POST',
  exposeHeaders: 'WWW-Authenticate',
  maxAge: 3600,
});

/** Responds 503 to everything but probes while the service is starting. */
export function onlyProbesWhile(lifecycle: Lifecycle, { protocols }: ApiDescription): Middleware {
  const probes = new Set(
    protocols
      .filter(({ methods }) => Object.values(methods).some(({ isProbe }) => isProbe))
      .map(({ path }) => path),
  );
  return async (ctx, next) => {
    if (lifecycle.starting !== undefined && !probes.has(ctx.path)) {
      throw serviceUnavailable.error('The service is starting; try again shortly.');
    }
    await next();
  };
}
