import type { Middleware } from 'koa';

import type { Authenticator, Gardens } from '../core/identity';
import type { Settings } from '../core/settings/settings';
import type { IdempotencyStore } from '../data/idempotency/idempotency';
import type { Fence } from '../data/schema/fence';
import type { MongoHealth } from '../data/mongodb/mongo-health';
import type { WriteQueue } from '../data/writing/write-queue';
import type { Operation } from '../plugins/operation';
import { hasEtag, isConditional, readsBody, readsGarden } from '../plugins/operation-facts';
import { authenticate, requireToken } from './authenticate';
import { bodyParserOf } from './body-parser';
import { conditional, etag, ifMatch, noStore } from './conditional';
import { failFast } from './fail-fast';
import { garden } from './garden';
import { outsideHandler, readHandler, writeHandler } from './handler';
import { newerCursor } from './newer-cursor';
import { idempotency } from './idempotency';
import { concurrency, type ConcurrencyLimit } from './limits/concurrency';
import { guesses } from './limits/guesses';
import type { RateLimits } from './limits/rate-limits';
import { refuseBackend, requireScope, requireTier } from './require-scope';
import { type ResponseCache, responseCache } from './response-cache';
import { transaction } from './transaction';
import { validate } from './validate';

/** What the steps need. */
export interface Services {
  identity: Authenticator;
  gardens: Gardens | undefined;
  rateLimits: RateLimits;
  /** Limits the concurrent calls of an account. */
  concurrency: Readonly<Record<'reads' | 'writes' | 'large' | 'exports', ConcurrencyLimit>>;
  cache: ResponseCache;
  mongo: MongoHealth;
  fence: Pick<Fence, 'look'>;
  idempotency: IdempotencyStore;
  writeQueue: WriteQueue;
  settings: Settings;
}

/** The steps of a request for an operation, in order. */
export function chainOf(operation: Operation, services: Services): Middleware[] {
  return steps([
    ...authentication(services),
    ...authorize(operation, services),
    operation.large && concurrency(services.concurrency.large, operation),
    readsBody(operation) &&
      bodyParserOf({
        isRequired: operation.body !== undefined && !operation.bodyIsOptional,
        large: operation.large,
      }),
    validate(operation),
    isConditional(operation) && conditional,
    operation.method === 'GET' && !isConditional(operation) && noStore,
    !isConditional(operation) && hasEtag(operation) && etag,
    ...respond(operation, services),
  ]);
}

/** The steps of a tool call: those of its operation from the rate limit onwards. */
export function toolChainOf(operation: Operation, services: Services): Middleware[] {
  return steps([
    ...authorize(operation, services),
    validate(operation),
    ...respond(operation, services),
  ]);
}

/** The steps that every request for an operation begins with. */
export function authentication(services: Services): Middleware[] {
  return [requireToken(services), failFast(services, [authenticate(services)])];
}

function authorize(operation: Operation, services: Services): Step[] {
  const { rateLimits } = services;
  const { limit, access, countsFailures, feature } = operation;
  return [
    rateLimits.of(limit).middleware,
    readsGarden(operation) && garden(operation, services),
    'scope' in access ? requireScope(operation) : refuseBackend,
    feature && requireTier(feature),
    countsFailures && guesses(countsFailures, services),
  ];
}

function respond(operation: Operation, services: Services): Step[] {
  const { concurrency: limits, cache } = services;
  if (operation.method === 'GET') {
    return [
      concurrency(operation.isExport ? limits.exports : limits.reads, operation),
      failFast(
        services,
        steps([
          newerCursor(services),
          operation.cacheable && responseCache(operation, cache),
          readHandler(operation),
        ]),
      ),
    ];
  }
  const begin = [
    concurrency(limits.writes, operation),
    operation.idempotent && idempotency(operation, services),
  ];
  if (operation.isOutside) return [...begin, outsideHandler(operation, services)];
  return [
    ...begin,
    transaction(operation, services, [
      ...steps([operation.state && ifMatch(operation)]),
      writeHandler(operation, services),
    ]),
  ];
}

/** A step, or nothing if the operation does not need it. */
type Step = Middleware | false | undefined;

function steps(all: readonly Step[]): Middleware[] {
  return all.filter((step) => step !== false && step !== undefined);
}
