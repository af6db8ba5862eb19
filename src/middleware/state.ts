import type { Context } from 'koa';
import type { Logger } from 'pino';

import type { Content } from '../core/http/content';
import type { ApiError } from '../core/errors';
import type { Principal } from '../core/identity';
import type { StoredResponse } from '../data/idempotency/idempotency';
import type { Transaction } from '../data/writing/transaction';
import type { CallInput, ListPart } from '../plugins/protocol-endpoint';

/** The input of a call after its operation's schemas let it through. */
export interface ValidInput {
  /** Text forms of UUIDs, in lower case; the ids of accounts. */
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
  part?: ListPart | undefined;
}

/** Which response is asked for: it is the same as long as the account's revision is. */
export interface ResponseKey {
  name: string;
  revision: number;
}

/** What one step of a chain leaves for the next ones, and for the request's line in the log. */
declare module 'koa' {
  interface DefaultState {
    /** From the request log: writes lines that carry the request's ids. */
    log: Logger;
    /** From the request log: fulfilled when the response was sent or the client is gone. */
    sent: Promise<unknown>;
    /** From the request log: the client's address as it may be logged (see `loggedAddress`). */
    client: string | undefined;
    /** From the router: the name of the operation; undefined where no route took the request. */
    operation?: string;
    /** From the router: whether operators' programs send it again and again. */
    isProbe?: boolean;
    /** From `authenticate`; undefined for public operations. */
    principal?: Principal;
    /** From the tool endpoint: the name of the tool that is called. */
    tool?: string;
    /** From the tool endpoint: whether the message calls an operation. */
    isCall?: boolean;
    /** From the tool endpoint, instead of what the request itself has. */
    given?: CallInput;
    /** From `validate`. */
    input: ValidInput;
    /** From `responseCache`: the name of the response, where the account's revision says what it is. */
    responseKey?: ResponseKey | undefined;
    /** From the handler of a read: when time alone makes the response another one, in ms since 1970. */
    validUntil?: number;
    /** From the handler of a read, or the cache: a response that may be sent many times. */
    content?: Content | undefined;
    /** From `conditional`: whether the client has the response with this tag. */
    isKnown?: (etag: string) => boolean;
    /** From the handler of a read: the tag of a response that is streamed, or need not be sent. */
    etag?: string | undefined;
    /** From `transaction`. */
    tx?: Transaction;
    /** From `answerInParts`: the key of the write, where it is not that of the request. */
    idempotencyKey?: string;
    /** From `answerInParts`: what a write throws that was to be a replay. */
    refuseWrite?: ApiError | undefined;
    /** From `idempotency`: stores the response in the transaction of its effect. */
    store?: (tx: Transaction, response: StoredResponse) => Promise<void>;
    /** Code of the error that is answered. */
    code?: string;
    /** Why, where the service itself failed or operators need to know. */
    reason?: string;
  }
}

/**
 * Who calls.
 *
 * @throws Error where the chain has no `authenticate`
 */
export function callerOf({ path, state }: Context): Principal {
  if (!state.principal) throw new Error(`${path} was to ask for a token.`);
  return state.principal;
}

/** Notes the error that a request, or a tool call in it, is answered with. */
export function recordError({ state }: Context, error: ApiError): void {
  const { body, logged, message, status } = error;
  state.code = body.code;
  // What callers did wrong is theirs, and may quote what they sent.
  const reason = status >= 500 ? message : logged;
  if (reason !== undefined) state.reason = reason;
}
