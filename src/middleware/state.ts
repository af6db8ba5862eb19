import type { Context } from 'koa';
import type { Logger } from 'pino';

import type { Content } from '../core/http/content';
import type { Account, Garden, Principal } from '../core/identity';
import type { RequestIdentity } from '../data/idempotency/idempotency';
import type { Transaction } from '../data/writing/transaction';
import type { PageQuery } from '../fields/page';
import type { CallInput, PageRequest, ProtocolMethod } from '../plugins/protocol-endpoint';

/** The validated input of a call. */
export interface ValidInput {
  /** UUIDs in lower case, and ids of accounts. */
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
  page?: PageInput | undefined;
}

/** The page of a list that a caller asks for. */
export type PageInput = PageQuery & Pick<PageRequest, 'maxLength'>;

/** Identifies a response, which changes with the account's revision alone. */
export interface ResponseKey {
  name: string;
  revision: number;
}

/** What a step leaves for later steps, and for the log line of the request. */
declare module 'koa' {
  interface DefaultState {
    /** From the request log: a logger whose lines carry the ids of the request. */
    log: Logger;
    /** From the request log: fulfilled when the response is sent or the client is gone. */
    sent: Promise<unknown>;
    /** From the request log: the client's address as it may be logged (see `loggedAddress`). */
    client: string | undefined;
    /** From the router: the name of the operation; undefined where no route took the request. */
    operation?: string;
    /** From the router: whether it is a probe. */
    isProbe?: boolean;
    /** From the router: responds with an error, if not with the Error body. */
    showError?: ProtocolMethod['showError'];
    /** From `authenticate`, or a page; undefined for public endpoints. */
    principal?: Principal;
    /** From `garden`: the garden of another account that the request is for. */
    garden?: Garden;
    /** From `garden`: the same for an operation of a member, which is for the caller's account. */
    within?: Garden;
    /** From the tool endpoint: the name of the tool that is called. */
    tool?: string;
    /** From a protocol endpoint: whether it has called an operation. */
    isCall?: boolean;
    /** From a protocol endpoint: the input, in place of that of the request. */
    given?: CallInput;
    /** From `validate`. */
    input: ValidInput;
    /** From `responseCache`: the cache key of the response, if it can be cached. */
    responseKey?: ResponseKey | undefined;
    /** From the handler of a read: when the response expires by time alone, in ms since 1970. */
    validUntil?: number;
    /** From the handler of a read, or the cache: the response, unless it is a stream. */
    content?: Content | undefined;
    /** From `conditional`: returns whether the client has the response with this ETag. */
    isKnown?: (etag: string) => boolean;
    /** From the handler of a read: the ETag of a response that is streamed, or need not be sent. */
    etag?: string | undefined;
    /** From `transaction`. */
    tx?: Transaction;
    /** From `idempotency`: under what the response is stored in the transaction of its effect. */
    request?: RequestIdentity;
    /** The code of the error response. */
    code?: string;
    /** The reason for operators. */
    reason?: string;
  }
}

/**
 * Returns the caller, for rate limits, retries and the audit log; the data is of {@link ownerOf}.
 *
 * @throws Error if the chain has no `authenticate`
 */
export function callerOf({ path, state }: Context): Principal {
  if (!state.principal) throw new Error(`The chain of ${path} does not authenticate.`);
  return state.principal;
}

/** The account whose data a call is for: the caller's own, or another whose garden it names. */
export function ownerOf(ctx: Context): Account {
  return (ctx.state.garden ?? callerOf(ctx)).account;
}
