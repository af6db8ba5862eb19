import type { Logger } from 'pino';

import { Content, etagOf, namesEtag } from '../core/content';
import { preconditionFailed } from '../core/errors';
import type { CallSource, Principal } from '../core/identity';
import { jsonText } from '../core/json-array';
import { isAsyncIterable } from '../core/values';
import type { Act, Acting } from '../data/audit/entry';
import type { Availability } from '../data/availability';
import type { IdempotencyStore } from '../data/idempotency';
import type { Transaction } from '../data/transaction';
import type { WriteQueue } from '../data/write-queue';
import type { Operation, ReadCall } from '../plugins/operation';
import { operationName } from '../plugins/operation-facts';
import type { CallInput, CallResult, ListPart, WriteResult } from '../plugins/transport';
import type { Admission } from './admission';
import { type AnswerCache, type AnswerKey, revisionEtag } from './answer-cache';
import { arrayText } from './array-text';
import { authorize } from './authorize';
import { partOfRead } from './list-part';
import type { Quotas } from './quotas';
import type { Counted, RateLimiter, ReplyHeaders } from './rate-limit';
import { runInParts } from './run-in-parts';
import { runOnce } from './run-once';
import { checkedResponse, type ValidInput, validateInput } from './validate';

/** One call of an operation, from any transport. */
export interface Call {
  /** Undefined only for public operations. */
  principal: Principal | undefined;
  /** Where the call is counted already: what came of it. */
  counted?: Promise<Counted> | undefined;
  /** Where headers of the answer go. */
  reply: ReplyHeaders;
  source: CallSource;
  log: Logger;
  /** Reads the input; called only once the caller may make the call. */
  input: () => Promise<CallInput>;
  idempotencyKey?: string | undefined;
  /** The headers of a conditional request (docs/decisions.md, "Conditional requests"). */
  ifMatch?: string | undefined;
  ifNoneMatch?: string | undefined;
  /** Whether no answer is sent but its headers. */
  isHead?: boolean;
  /** Fulfilled when the answer was sent or its caller is gone. */
  sent: Promise<unknown>;
}

interface Dependencies {
  answers: AnswerCache;
  admission: Admission;
  limiter: RateLimiter;
  writeQueue: WriteQueue;
  idempotency: IdempotencyStore;
  availability: Availability;
  quotas: Quotas;
  /** Whether answers are checked against their schemas, as in tests. */
  checkResponses: boolean;
}

/**
 * The steps that every call passes, in this order: rate limit, scope, tier, validation,
 * admission, cache, idempotency, If-Match, quota, handler, response. Transports authenticate, read and
 * write; none of them can skip a step.
 */
export class CallPipeline {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws ApiError for whatever keeps the call from its answer */
  async run(operation: Operation, call: Call): Promise<CallResult> {
    const { principal } = call;
    if (principal) {
      if (typeof operation.limit === 'string') {
        const { id } = principal.account;
        await this.#dependencies.limiter.spend(operation.limit, id, call.reply, call.counted);
      }
      authorize(operation, principal);
    }
    const input = validateInput(operation, await call.input());
    // What needs no token is asked by probes, which want to know what is there.
    if (!principal) {
      return { value: await this.#handle(operation, { ...input, now: new Date() }) };
    }
    const { account } = principal;
    const isRead = operation.method === 'GET';
    const { admission, answers } = this.#dependencies;
    const key = answers.keyOf(operation, account, input);
    const written = operation.isAnswerWhole ? 'whole' : 'short';
    const size = isRead ? 'long' : written;
    const admitted = await admission.enter(size, account.id, call.sent);
    try {
      if (!isRead) {
        const done = await this.#runFor(principal, operation, input, call);
        if (size === 'whole') admission.count(account.id, Buffer.byteLength(done.json));
        return done;
      }
      const kept = key && answers.get(key, new Date());
      if (kept) {
        // It costs nothing but to be sent.
        if (!isWithoutBody(call, kept)) admission.count(account.id, kept.body.length);
        return { content: kept };
      }
      const made = await this.#read(principal, operation, input, call, key);
      if ('content' in made) admission.count(account.id, made.content.body.length);
      return made;
    } finally {
      admitted.made();
      void call.sent.then(admitted.sent);
    }
  }

  async #runFor(
    principal: Principal,
    operation: Operation,
    input: ValidInput,
    call: Call,
  ): Promise<WriteResult> {
    const { account, token } = principal;
    const acting: Acting = {
      actor: { type: 'token', account: account.id, token: token.id },
      source: call.source,
    };
    const write = (tx: Transaction) =>
      this.#write(principal, operation, tx.as(acting), input, call);
    const { idempotencyKey: key } = call;
    if (input.part) {
      const keyed = { operation, account, key, input };
      return runInParts(this.#dependencies, keyed, input.part, write);
    }
    if (operation.idempotent && key !== undefined) {
      return runOnce(this.#dependencies, { operation, account, key, input }, write);
    }
    const { quota } = operation;
    const value = await this.#dependencies.writeQueue.run(account.id, write, { quota });
    return { status: operation.response.status, json: await jsonText(value), replayed: false };
  }

  async #read(
    { account, token }: Principal,
    operation: Operation,
    input: ValidInput,
    { ifNoneMatch = '', log }: Call,
    key: AnswerKey | undefined,
  ): Promise<CallResult> {
    const { admission, answers, availability } = this.#dependencies;
    let validUntil = Infinity;
    const call: ReadCall<unknown, string> = {
      ...input,
      account,
      token,
      scope: { userId: account.id },
      now: new Date(),
      validUntil: (moment: Date) => {
        validUntil = Math.min(validUntil, moment.getTime());
      },
      countBytes: (bytes: number) => {
        admission.count(account.id, bytes);
      },
    };
    const read = () => availability.read(() => this.#handle(operation, call));
    const value = input.part
      ? await this.#readPart(operation, input.part, call, await read())
      : await read();
    if (operation.notConditional !== undefined) return { value };
    let text: string;
    if (isAsyncIterable(value)) {
      const etag = key && validUntil === Infinity ? revisionEtag(key) : undefined;
      // Whatever answer there is, `*` means it, and its own tag is known only once it is made.
      if (etag !== undefined && ifNoneMatch.trim() !== '*' && namesEtag(ifNoneMatch, etag)) {
        return { unchanged: etag };
      }
      const made = await arrayText(availability.readEach(value), log, (bytes) => {
        admission.count(account.id, bytes);
      });
      if (typeof made !== 'string') return { pieces: made, etag };
      text = made;
    } else {
      text = await jsonText(value);
    }
    const content = new Content(text);
    if (key) answers.set(key, content, { from: call.now.getTime(), until: validUntil });
    return { content };
  }

  #readPart(
    operation: Operation,
    part: ListPart,
    call: ReadCall<unknown, string>,
    value: unknown,
  ): Promise<unknown> {
    const { availability } = this.#dependencies;
    return partOfRead(isAsyncIterable(value) ? availability.readEach(value) : value, part, {
      list: [call.account.id, operationName(operation), call.params, call.query],
      countSkipped: call.countBytes,
      readPage: (limit) => {
        const query = { ...(call.query as object), limit }; // Every page has a limit.
        return availability.read(() => this.#handle(operation, { ...call, query }));
      },
    });
  }

  async #write(
    { token }: Principal,
    operation: Operation,
    tx: Transaction,
    input: ValidInput,
    { ifMatch }: Call,
  ): Promise<unknown> {
    const call = { ...input, tx, token, now: tx.now };
    if (operation.state && ifMatch !== undefined) {
      const ignore = (): void => undefined;
      const asRead = { validUntil: ignore, countBytes: ignore };
      const read = { ...call, ...asRead, account: tx.account, scope: tx };
      // As in `#handle`: it is the handler of this operation's own plugin.
      const state = JSON.stringify(await operation.state(read as never));
      if (!namesEtag(ifMatch, etagOf(state))) throw preconditionFailed.error();
    }
    if (operation.quota !== undefined) this.#dependencies.quotas.check(tx, operation.quota);
    const value = await this.#handle(operation, call);
    if (operation.audit !== undefined) tx.audit(actOf(operation.audit, input));
    return value;
  }

  async #handle(operation: Operation, call: object): Promise<unknown> {
    // The schemas that the handler's types were checked against have just let this call through.
    const value = await operation.handler(call as never);
    return this.#dependencies.checkResponses ? checkedResponse(operation, value) : value;
  }
}

/** Whether an answer is sent without the content that it is about. */
function isWithoutBody({ isHead = false, ifNoneMatch }: Call, { etag }: Content): boolean {
  return isHead || (ifNoneMatch !== undefined && namesEtag(ifNoneMatch, etag));
}

/** The act of an operation on the record that its path names. */
function actOf(action: string, { params }: ValidInput): Act {
  const [type = ''] = action.split('.');
  return { action, target: { type, id: params['id'] ?? '' } };
}
