import Router from '@koa/router';
import type { Context, Middleware } from 'koa';

import { methodNotAllowed, notFound } from '../core/errors';
import type { AuthenticationOptions, Authenticator, Principal } from '../core/identity';
import { MAX_BODY_KIB } from '../core/request-limits';
import type { Operation } from '../plugins/operation';
import { operationName, readsBody } from '../plugins/operation-facts';
import type {
  ApiDescription,
  CallInput,
  TransportApi,
  TransportMethod,
} from '../plugins/transport';
import { answer, bytesToSend } from './answer';
import { authenticate, sourceOf } from './authenticate';
import { bodyLength, hasBody, readJson } from './body';
import { queryReader } from './query';
import type { PublicPace } from './public-pace';
import { factsOf, recordError, recordOutcome } from './request-facts';
import type { Admission } from '../calls/admission';
import type { CallPace } from '../calls/call-pace';
import type { CallPipeline } from '../calls/pipeline';
import { asApiError } from '../calls/api-error';
import type { Counted, RateLimiter } from '../calls/rate-limit';

type RoutedContext = Context & { params: Record<string, string> };

interface Dependencies {
  pipeline: CallPipeline;
  admission: Admission;
  pace: CallPace;
  limiter: RateLimiter;
  identity: Authenticator;
  /** Of one port, so that no other can fill it. */
  publicPace: PublicPace;
}

/** Serves operations over HTTP, and what other protocols there are over the same operations. */
export function routes(description: ApiDescription, dependencies: Dependencies): Middleware[] {
  const router = new Router({ sensitive: true, strict: true });
  const paths = new Set(description.operations.map(({ path }) => path));
  for (const operation of description.operations) {
    const served = serve(operation, dependencies);
    router.register(
      routerPath(operation.path),
      [operation.method.toLowerCase()],
      // A path of its own is no parameter of another: `/api/records/delete` is not the record `delete`.
      operation.path.includes('{')
        ? (ctx, next) => (paths.has(ctx.path) ? next() : served(ctx))
        : served,
      { name: operationName(operation) },
    );
  }
  const api = transportApi(description, dependencies);
  for (const { path, withSlash = false, methods, prepare } of description.transports) {
    prepare?.(description);
    for (const [method, transportMethod] of Object.entries(methods)) {
      router.register(
        [path, ...(withSlash ? [`${path}/`] : [])].map(routerPath),
        [method.toLowerCase()],
        serveTransport(operationName({ method, path }), transportMethod, api, dependencies),
      );
    }
  }
  // The router's own type of a context is narrower than what it passes on.
  return [router.routes() as unknown as Middleware, refuse];
}

/** `/api/records/{id}` in the router's way of writing. */
function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

function serve(operation: Operation, dependencies: Dependencies) {
  const { pipeline, admission, limiter, pace } = dependencies;
  const isPublic = 'public' in operation.access;
  const readQuery = queryReader(operation);
  const name = operationName(operation);
  const isBodyRead = readsBody(operation);
  const { limit } = operation;
  return inTurn(operation, name, dependencies, async (ctx: RoutedContext) => {
    const facts = factsOf(ctx);
    const inputOf = async (): Promise<CallInput> => ({
      params: ctx.params,
      ...readQuery(ctx),
      body: operation.body || (isBodyRead && hasBody(ctx)) ? await bodyOf(ctx, pace) : undefined,
    });
    // Neither the account nor its budget waits for the other.
    let counted: Promise<Counted> | undefined;
    const onClaim = (accountId: string): void => {
      if (typeof limit === 'string') counted = limiter.count(limit, accountId);
    };
    const principal = isPublic ? undefined : await callerOf(ctx, dependencies, onClaim);
    const outcome = await pipeline.run(operation, {
      reply: ctx,
      source: sourceOf(ctx),
      log: facts.log,
      principal,
      counted,
      input: inputOf,
      idempotencyKey: idempotencyKeyOf(ctx),
      ifMatch: ctx.headers['if-match'],
      ifNoneMatch: ctx.headers['if-none-match'],
      isHead: ctx.method === 'HEAD',
      sent: facts.sent,
    });
    recordOutcome(facts, outcome);
    await answer(ctx, operation, outcome);
    if (!isPublic) admission.hold(bytesToSend(ctx), facts.sent);
  });
}

/** Names what a request asks for, and has it wait where no account's budget limits it. */
function inTurn<T extends Context>(
  { access, isProbe = false }: Pick<Operation | TransportMethod, 'access' | 'isProbe'>,
  name: string,
  { publicPace }: Dependencies,
  handle: (ctx: T) => Promise<void>,
): (ctx: T) => Promise<void> {
  const isPublic = 'public' in access;
  return async (ctx) => {
    Object.assign(factsOf(ctx), { operation: name, isProbe });
    if (isPublic) await publicPace.run(name, ctx, () => handle(ctx));
    else await handle(ctx);
  };
}

/** Who calls, as soon as the account may begin another call. */
async function callerOf(
  ctx: Context,
  { identity, limiter, pace }: Dependencies,
  onClaim?: AuthenticationOptions['onClaim'],
): Promise<Principal> {
  const principal = await authenticate(ctx, identity, limiter, onClaim);
  await pace.begin(principal.account.id, factsOf(ctx).sent);
  return principal;
}

/** Reads a body, which is counted whatever is wrong with it: as the longest where it was not read. */
async function bodyOf(ctx: Context, pace: CallPace): Promise<unknown> {
  try {
    return await readJson(ctx);
  } finally {
    const { principal } = factsOf(ctx);
    const bytes = bodyLength(ctx) || (hasBody(ctx) ? MAX_BODY_KIB * 1024 : 0);
    if (principal) pace.countBody(principal.account.id, bytes);
  }
}

/**
 * A transport authenticates by itself; one that forgot to lets nobody in. Which operation a message
 * calls is known only once it was handled: one that called none spends a read for it then.
 */
function serveTransport(
  name: string,
  method: TransportMethod,
  api: TransportApi,
  dependencies: Dependencies,
) {
  const { admission, limiter } = dependencies;
  const isPublic = 'public' in method.access;
  return inTurn(method, name, dependencies, async (ctx: Context) => {
    let caller: Principal | undefined;
    let operation: Operation | undefined;
    try {
      await method.handler(ctx, {
        ...api,
        authenticate: async (context) => (caller = await api.authenticate(context)),
        call: (called, ...rest) => {
          operation = called;
          return api.call(called, ...rest);
        },
      });
    } finally {
      if (caller && !operation) await limiter.spend('reads', caller.account.id, ctx);
    }
    if (!isPublic && !caller && ctx.status < 400) {
      throw new Error(`${ctx.path} let somebody in without asking for a token.`);
    }
    if (!isPublic) admission.hold(bytesToSend(ctx), factsOf(ctx).sent);
    // What its operation answered was counted, and was written anew.
    if (caller) admission.count(caller.account.id, ctx.length);
  });
}

function transportApi(description: ApiDescription, dependencies: Dependencies): TransportApi {
  const { pipeline, pace } = dependencies;
  return {
    ...description,
    authenticate: (ctx) => callerOf(ctx, dependencies),
    readJson: (ctx) => bodyOf(ctx, pace),
    call: async (operation, principal, input, ctx) => {
      const facts = factsOf(ctx);
      const idempotencyKey = idempotencyKeyOf(ctx);
      if ('name' in operation.tool) facts.tool = operation.tool.name;
      try {
        const outcome = await pipeline.run(operation, {
          principal,
          reply: ctx,
          source: sourceOf(ctx),
          log: facts.log,
          input: async () => input,
          idempotencyKey,
          ifMatch: ctx.headers['if-match'],
          sent: facts.sent,
        });
        recordOutcome(facts, outcome);
        return outcome;
      } catch (error) {
        const answered = asApiError(error, facts.log);
        recordError(facts, answered);
        throw answered;
      }
    },
  };
}

function idempotencyKeyOf(ctx: Context): string | undefined {
  return ctx.headers['idempotency-key'] as string | undefined; // Node joins repeats.
}

/** Answers what no route took: a known path with another method, or an unknown path. */
const refuse: Middleware = (ctx) => {
  // The router lists here every route whose path matched, whatever its method.
  const matched = (ctx['matched'] ?? []) as { path: string; methods: string[] }[];
  if (matched.length === 0) throw notFound.error();
  const own = matched.filter(({ path }) => path === ctx.path);
  const layers = own.length > 0 ? own : matched;
  const allowed = [...new Set(layers.flatMap((layer) => layer.methods))].join(', ');
  ctx.set('Allow', allowed);
  if (ctx.method !== 'OPTIONS') throw methodNotAllowed.error(`This path takes only ${allowed}.`);
  ctx.status = 204;
};
