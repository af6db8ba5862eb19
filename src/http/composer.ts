import type Joi from 'joi';
import type { Context } from 'koa';
import type { Logger } from 'pino';

import { fingerprintOf, type KeptAnswer, type KeptAnswers } from '../data/idempotency';
import type { Transaction } from '../data/transaction';
import type { UnitOfWork } from '../data/unit-of-work';
import { ApiError, featureNotAvailable, insufficientScope, validationError } from '../errors';
import type { Account, Principal } from '../identity';
import { isUuid } from '../ids';
import type { Quota } from '../plugins/manifest';
import { type Operation, operationName } from '../plugins/operation';
import type { Settings } from '../settings';
import { requireObject } from './body';
import type { RateLimiter } from './rate-limit';

/** What a caller sent, before it is checked. */
export interface RawInput {
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
}

/** One call of an operation, from whichever transport. */
export interface IncomingCall {
  /** Undefined only for public operations. */
  principal: Principal | undefined;
  /** Where headers of the answer go. */
  ctx: Context;
  log: Logger;
  /** Reads the input; called only when it is the input's turn to be looked at. */
  input: () => Promise<RawInput>;
  idempotencyKey?: string | undefined;
}

/** What an operation answered: a value, or the JSON text of one that is kept. */
export type Outcome = { value: unknown } | { status: number; json: string; replayed: boolean };

interface CheckedInput {
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
}

interface Parts {
  limiter: RateLimiter;
  unitOfWork: UnitOfWork;
  keptAnswers: KeptAnswers;
  quotas: ReadonlyMap<string, Quota>;
  settings: Settings;
  /** Whether answers are held against their schemas, as in tests. */
  checkResponses: boolean;
}

/**
 * The chain that every call passes, in this order: rate limit, scope, tier, validation,
 * idempotency, quota, handler, response. Transports authenticate, read and write; none of them
 * can step around a link.
 */
export class Composer {
  constructor(private readonly parts: Parts) {}

  /** @throws ApiError whatever keeps the call from its answer */
  async run(operation: Operation, call: IncomingCall): Promise<Outcome> {
    const { principal } = call;
    if (principal) {
      if (typeof operation.limit === 'string') {
        await this.parts.limiter.spend(operation.limit, principal.account.id, call.ctx);
      }
      authorize(operation, principal);
    }
    const input = checkInput(operation, await call.input());
    return this.#perform(operation, call, input);
  }

  async #perform(operation: Operation, call: IncomingCall, input: CheckedInput): Promise<Outcome> {
    const facts = { ...input, log: call.log };
    const account = call.principal?.account;
    if (operation.method === 'GET' || !account) {
      return { value: await this.#handle(operation, { ...facts, account, now: new Date() }) };
    }
    if (operation.idempotent === true && call.idempotencyKey !== undefined) {
      return this.#once(operation, account, call.idempotencyKey, facts, input);
    }
    const value = await this.parts.unitOfWork.run(account.id, (tx) =>
      this.#write(operation, tx, facts),
    );
    return { value };
  }

  async #write(operation: Operation, tx: Transaction, facts: object): Promise<unknown> {
    if (operation.quota !== undefined) await this.#takeOne(operation.quota, tx);
    return this.#handle(operation, { ...facts, tx, now: tx.now });
  }

  async #handle(operation: Operation, call: object): Promise<unknown> {
    // The schemas that the handler's types were checked against have just let this call through.
    const value = await operation.handler(call as never);
    if (this.parts.checkResponses) checkResponse(operation, value);
    return value;
  }

  async #once(
    operation: Operation,
    account: Account,
    key: string,
    facts: object,
    input: CheckedInput,
  ): Promise<Outcome> {
    if (key.length === 0 || key.length > 255) {
      throw validationError.error('The header Idempotency-Key must have 1 to 255 characters.');
    }
    const path = operation.path.replace(
      /\{(\w+)\}/g,
      (_, name: string) => input.params[name] ?? '',
    );
    const request = {
      userId: account.id,
      key,
      fingerprint: fingerprintOf(operation.method, path, input.body),
    };
    const { keptAnswers, unitOfWork } = this.parts;
    const work = async (): Promise<KeptAnswer> => {
      try {
        return await unitOfWork.run(account.id, async (tx) => {
          const value = await this.#write(operation, tx, facts);
          const answer = { status: operation.response.status, body: JSON.stringify(value) };
          await keptAnswers.keep(request, answer, tx);
          return answer;
        });
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) {
          await keptAnswers.keep(request, { status: 404, body: JSON.stringify(error.body) });
        }
        throw error;
      }
    };
    const { answer, replayed } = await keptAnswers.once(request, work);
    return { status: answer.status, json: answer.body, replayed };
  }

  async #takeOne(name: string, tx: Transaction): Promise<void> {
    const quota = this.parts.quotas.get(name);
    if (!quota) throw new Error(`There is no quota ${name}.`);
    const limit = this.parts.settings.of(quota.limits[tx.account.tier]);
    if ((tx.account.usage[name] ?? 0) >= limit) {
      throw quota.error.error(
        `${quota.error.meaning} The ${tx.account.tier} tier allows ${limit}.`,
      );
    }
    await tx.addUsage(name, 1);
  }
}

/** Section 5, and the tier's features. */
function authorize(operation: Operation, principal: Principal): void {
  const { access, feature } = operation;
  if ('scope' in access && !principal.scopes.has(access.scope)) {
    throw insufficientScope.error(`The token lacks the scope ${access.scope}.`, {
      headers: {
        'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${access.scope}"`,
      },
    });
  }
  if (feature && !feature.tiers.includes(principal.account.tier)) {
    throw featureNotAvailable.error(
      `The ${feature.name} is not part of the ${principal.account.tier} tier.`,
    );
  }
}

/**
 * Query and body first, path ids last: an id of the wrong form is answered exactly as one that
 * does not exist, which is found out after validation.
 */
function checkInput(operation: Operation, raw: RawInput): CheckedInput {
  if (!operation.query || Object.hasOwn(raw.query ?? {}, '__proto__')) refuseQuery(raw.query);
  const query = operation.query && validate(operation.query, raw.query);
  const body = operation.body ? validate(operation.body, requireObject(raw.body)) : undefined;
  const params: Record<string, string> = {};
  for (const [name, error] of Object.entries(operation.params ?? {})) {
    const id = raw.params[name] ?? '';
    if (!isUuid(id)) throw error.error();
    params[name] = id.toLowerCase();
  }
  return { params, query, body };
}

function refuseQuery(query: unknown): void {
  const [name] = Object.keys(query ?? {});
  if (name !== undefined) throw validationError.error(`${shortened(name)} is not allowed.`);
}

function validate(schema: Joi.Schema, value: unknown): unknown {
  const checked = schema.validate(value, {
    // JSON has types of its own; what a transport sends as text it converts itself.
    convert: false,
    errors: { wrap: { label: false } },
  });
  if (checked.error) throw validationError.error(`${shortened(checked.error.message)}.`);
  return checked.value as unknown;
}

/** Messages name fields as sent, and a field's name can be as long as a body. */
export function shortened(message: string): string {
  return message.length > 300 ? `${message.slice(0, 300)}…` : message;
}

function checkResponse(operation: Operation, value: unknown): void {
  const { error } = operation.response.schema.validate(value, { convert: false });
  if (error) {
    throw new Error(`${operationName(operation)} breaks its response schema: ${error.message}`);
  }
}
