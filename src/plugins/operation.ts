import type Joi from 'joi';

import type { ErrorCode } from '../core/errors';
import type { Account, HeldToken, Tier } from '../core/identity';
import type { PortSetting } from '../core/settings/settings';
import type { Acting } from '../data/audit/entry';
import type { Tenant } from '../data/model/models';
import type { Transaction } from '../data/writing/transaction';
import { success } from '../fields/joi';
import type { ValidationErrors } from '../fields/validation-errors';

/**
 * Who may call: holders of a scope, and perhaps of another beside it, of any valid token, or everybody;
 * the last two with a reason.
 */
export type Access = ScopeAccess | { anyToken: string } | { public: string };

interface ScopeAccess {
  scope: string;
  and?: string;
}

/** What an assistant sees of an operation, or why it sees nothing. */
export type Tool = AssistantTool | { none: string };

interface AssistantTool {
  name: string;
  description: string;
  /** What arguments are where they are left out, instead of what they are over REST. */
  defaults?: Readonly<Record<string, string>>;
  /** The operation that is called in place of this one with `view: full`: it takes the same, and lists more. */
  full?: Operation;
  /** The field of the body for whose null the tool takes `cancel: true`. */
  cancels?: string;
}

/** Name of the rate budget that a call spends, or why it spends none. */
export type Limit = string | { none: string };

/** A part of the service that only some tiers have. */
export interface Feature {
  /** Completes the sentence "… is not part of your tier." */
  name: string;
  tiers: readonly Tier[];
  /** What an assistant should do instead, in a sentence that may name tools. */
  remedy?: string;
}

interface OperationBase<Names extends string> {
  /** Path with its parameters in braces: `/api/records/{id}`. */
  path: string;
  summary: string;
  /** What clients of REST should know besides; what its tool says to assistants unless given. */
  description?: string;
  /** What generated clients call it, such as `listRecords`; that of its tool, where it has one. */
  operationId?: string;
  feature?: Feature;
  /** Every path parameter, and the error for a value that is not a UUID: the one for an unknown id. */
  params?: Readonly<Record<Names, ErrorCode>>;
  /** The path parameter that is no UUID but the id of an account; a write is to that account. */
  account?: NoInfer<Names>;
  /** The setting that gives it a port of its own; where it is set, it is served there and nowhere else. */
  ownPort?: PortSetting<number | undefined>;
  /** Errors beyond those that follow from the rest. */
  errors?: readonly ErrorCode[];
  /** What the audit log calls an act on the record `{id}`, `record.deleted`; other calls are not in it. */
  audit?: string;
  /** Why it may read what any plugin stores of the account; without it only what its plugin reaches. */
  readsAll?: string;
  tool: Tool;
}

interface OperationResponse {
  status: 200 | 201;
  schema: Joi.Schema;
  description: string;
  /** Media type where the answer is not JSON. */
  type?: string;
  /** Another media type, of texts that the handler may answer instead. */
  orType?: string;
}

/** How a body is taken that may be larger than others: one of an account at a time. */
export interface LargeBody<Body, Checked> {
  maxKib: number;
  /** A media type beside JSON, and the field of the body that such a text becomes. */
  text: { type: string; field: string };
  /** How many faults are listed. */
  maxDetails: number;
  /** Checks what the schema of the body leaves open, piece by piece; answers what the handler gets. */
  check: (body: Body, errors: ValidationErrors, account: Account) => Promise<Checked>;
}

/** A response whose status follows from the method unless it is given: 201 for POST, else 200. */
type DeclaredResponse = Omit<OperationResponse, 'status'> &
  Partial<Pick<OperationResponse, 'status'>>;

interface CallBase {
  now: Date;
}

/** What the handler of a read gets. */
export interface ReadCall<Query, Names extends string> extends CallBase {
  account: Account;
  /** The token that the call came with. */
  token: HeldToken;
  /** Who acts, for what is recorded outside of a write. */
  acting: Acting;
  /** Whose records to read: the account's; for If-Match within a write, as its transaction sees them. */
  tenant: Tenant;
  /** Text forms of UUIDs, checked and in lower case. */
  params: Readonly<Record<Names, string>>;
  query: Query;
  /** Says when time alone makes the answer another one; without it only writes do. */
  validUntil: (moment: Date) => void;
}

/** What the handler of a public read gets. */
type PublicCall = CallBase;

/** What the handler of a write gets. It runs again when its transaction has to be retried. */
interface WriteCall<Body, Names extends string, Query = undefined> extends CallBase {
  tx: Transaction;
  /** The token that the call came with. */
  token: HeldToken;
  params: Readonly<Record<Names, string>>;
  query: Query;
  body: Body;
}

/** What the handler of a PUT gets, which does its own transactions. */
export interface PutCall<Body, Names extends string> extends CallBase {
  account: Account;
  token: HeldToken;
  acting: Acting;
  params: Readonly<Record<Names, string>>;
  body: Body;
  /** Says that the record is new, which is answered with 201. */
  made: () => void;
}

/** An operation of the API as data: route, tool, document and audit row come from this object. */
export interface Operation extends OperationBase<string> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  access: Access;
  limit: Limit;
  response: OperationResponse;
  query?: Joi.ObjectSchema;
  body?: Joi.ObjectSchema;
  large?: LargeBody<never, unknown>;
  /**
   * The field of the answer that is shown once: it is not stored for retries, which are answered with
   * 409 and the record's id.
   */
  secret?: string;
  /** Whether it takes an Idempotency-Key, as every POST does. */
  idempotent: boolean;
  /** Whether operators' own programs ask it again and again: it is then logged at debug level. */
  isProbe?: boolean;
  /** Whether an answer is as good as a new one as long as nothing is written to the account. */
  cacheable: boolean;
  /** Why its answers carry no ETag, and cannot be asked for on a condition. */
  notConditional?: string;
  /** Reads what an If-Match is compared with: the record as answers show it. */
  state?: Handler;
  handler: Handler;
}

/**
 * A handler after its types were checked against its schemas. `never` because only the pipeline
 * calls it, with what those very schemas let through.
 */
export type Handler = (call: never) => Promise<unknown>;

interface ReadOperation<Query, Names extends string> extends OperationBase<Names> {
  access: ScopeAccess | { anyToken: string };
  /** Why the answer may change without a write to the account's data; without it, it may not. */
  notCacheable?: string;
  /** Why it answers with no ETag, and never from the cache: no two of its answers are the same. */
  notConditional?: string;
  /** `reads` unless given. */
  limit?: Limit;
  response: DeclaredResponse;
  query?: Joi.ObjectSchema<Query>;
  /**
   * Answers a value or, where that is an array without a bound, an async iterable of batches of its
   * items, which are sent as they come.
   */
  handler: (call: ReadCall<Query, Names>) => Promise<unknown>;
}

interface PublicOperation extends OperationBase<never> {
  /** Whether operators' own programs ask it again and again: it is then logged at debug level. */
  isProbe?: boolean;
  access: { public: string };
  /** Why it needs no limit. */
  limit: { none: string };
  response: DeclaredResponse;
  handler: (call: PublicCall) => Promise<unknown>;
}

interface WriteOperation<Body, Names extends string, Query, Checked> extends OperationBase<Names> {
  method: 'POST' | 'PATCH' | 'DELETE';
  access: ScopeAccess | { anyToken: string };
  /** `writes` unless given. */
  limit?: Limit;
  response: DeclaredResponse;
  /** With `dryRun: true`, where it has that, all is done and undone, and answered with 200. */
  query?: Joi.ObjectSchema<Query>;
  body?: Joi.ObjectSchema<Body>;
  large?: LargeBody<Body, Checked>;
  /** The field of the answer that is shown once, and not stored for retries. */
  secret?: string;
  /** Why it answers with no ETag. */
  notConditional?: string;
  /** Reads the record as answers show it, for If-Match; the GET at the same path unless given. */
  state?: (call: WriteCall<Body, Names>) => Promise<unknown>;
  handler: (call: WriteCall<Checked, Names, Query>) => Promise<unknown>;
}

interface PutOperation<Body, Names extends string> extends OperationBase<Names> {
  access: { scope: string };
  limit?: Limit;
  response: DeclaredResponse;
  body: Joi.ObjectSchema<Body>;
  handler: (call: PutCall<Body, Names>) => Promise<unknown>;
}

interface DeleteOperation<Names extends string> extends OperationBase<Names> {
  access: { scope: string };
  /** `writes` unless given. */
  limit?: Limit;
  /** As of any write. */
  state?: (call: WriteCall<undefined, Names>) => Promise<unknown>;
  /** What it returns is not shown. */
  handler: (call: WriteCall<undefined, Names>) => Promise<unknown>;
}

/** Declares an operation that changes nothing. */
export function read<Query = undefined, Names extends string = never>({
  notCacheable,
  ...operation
}: ReadOperation<Query, Names>): Operation {
  return {
    limit: 'reads',
    ...operation,
    method: 'GET',
    idempotent: false,
    cacheable: notCacheable === undefined && operation.notConditional === undefined,
    response: { status: 200, ...operation.response },
  };
}

/** Declares a read that needs no token. */
export function publicRead(operation: PublicOperation): Operation {
  return {
    ...operation,
    method: 'GET',
    idempotent: false,
    cacheable: false,
    response: { status: 200, ...operation.response },
  };
}

/** Declares an operation that changes the account's data: it runs in one transaction. */
export function write<
  Body = undefined,
  Names extends string = never,
  Query = undefined,
  Checked = Body,
>(operation: WriteOperation<Body, Names, Query, Checked>): Operation {
  const isPost = operation.method === 'POST';
  return {
    limit: 'writes',
    ...operation,
    idempotent: isPost,
    cacheable: false,
    response: { status: isPost ? 201 : 200, ...operation.response },
  };
}

/** Declares an operation that makes a record or changes it, and may be repeated. */
export function put<Body, Names extends string = never>(
  operation: PutOperation<Body, Names>,
): Operation {
  return {
    limit: 'writes',
    ...operation,
    method: 'PUT',
    idempotent: false,
    cacheable: false,
    response: { status: 200, ...operation.response },
  };
}

/** Declares an operation that deletes a record; it answers a bare success. */
export function remove<Names extends string = never>({
  handler,
  ...operation
}: DeleteOperation<Names>): Operation {
  return write<undefined, Names>({
    ...operation,
    method: 'DELETE',
    response: { schema: success, description: 'It is deleted' },
    handler: async (call) => {
      await handler(call);
      return { success: true };
    },
  });
}
