import type Joi from 'joi';

import type { ErrorCode } from '../core/errors';
import type { Account, Tier } from '../core/identity';
import type { PortSetting } from '../core/settings/settings';
import { success } from '../fields/joi';
import type { ValidationErrors } from '../fields/validation';
import type { PutCall, ReadCall, WriteCall } from './call';

/** Who may call: holders of one scope or of two, or of any valid token, with the reason. */
export type Access = ScopeAccess | { anyToken: string };

interface ScopeAccess {
  scope: string;
  and?: string;
  /** The scope instead, for an operation of a member in the garden of another. */
  asMember?: string;
}

/** The operation as a tool, or why it is not one. */
export type Tool = AssistantTool | { none: string };

interface AssistantTool {
  name: string;
  description: string;
  /** Defaults of arguments that differ from those over REST. */
  defaults?: Readonly<Record<string, string>>;
  /** Fields of the body that are required, whatever their defaults over REST: models forget them. */
  requires?: readonly string[];
  /** The operation that is called instead with `view: full`: it takes the same, and lists more. */
  full?: Operation;
  /**
   * What the tool calls instead: the same operation with arguments and a response for assistants, which
   * is not served over REST.
   */
  instead?: Operation;
  /** The field of the body that the tool sets to null with `cancel: true`. */
  cancels?: string;
  /** How to ask for less, in a sentence, if the result may be too long for a tool. */
  narrow?: string;
}

/** A part of the service that only some tiers have. */
export interface Feature {
  /** Completes the sentence "… is not part of your tier." */
  name: string;
  tiers: readonly Tier[];
  /** What an assistant should do instead, in a sentence that may name tools. */
  remedy?: string;
}

interface OperationBase<Names extends string> {
  /**
   * Whether it is of a garden, which may be another's that is shared with the caller (the default), of the
   * person who calls, or of what that person has for themselves in a garden: a write is to their account.
   */
  of?: 'garden' | 'person' | 'member';
  /** Path with its parameters in braces: `/api/records/{id}`. */
  path: string;
  summary: string;
  /** More for clients of REST than the description of the tool, which is the default. */
  description?: string;
  /** The name in generated clients, such as `listRecords`; by default that of the tool. */
  operationId?: string;
  feature?: Feature;
  /** Every path parameter, and the error for a value that is not a UUID: the one for an unknown id. */
  params?: Readonly<Record<Names, ErrorCode>>;
  /** The path parameter that is the id of an account, not a UUID; a write is to that account. */
  account?: NoInfer<Names>;
  /** The setting of a port of its own. Where it is set, the operation is served on that port alone. */
  ownPort?: PortSetting<number | undefined>;
  /** A path parameter that is the id of an account, of any form; a write is to the caller all the same. */
  owner?: NoInfer<Names>;
  /**
   * The error for a secret that is wrong: it costs the client's address a failed authentication, and an
   * address that has none left is refused.
   */
  countsFailures?: ErrorCode;
  /** Errors beyond those that follow from the rest. */
  errors?: readonly ErrorCode[];
  /** The action in the audit log, on the record `{id}`, such as `record.deleted`. */
  audit?: string;
  /** Why it may read all data of the account, not only that of its own plugin. */
  readsAll?: string;
  /** Whether it streams all data of an account: few run at once, each until it is sent. */
  isExport?: true;
  /** Why its responses have no ETag; they are never cached either. */
  notConditional?: string;
  tool: Tool;
}

interface OperationResponse {
  status: 200 | 201;
  schema: Joi.Schema;
  description: string;
  /**
   * Of a list without pages, the fields that identify an item and determine its place, besides the one that
   * `sort` names: a page of a tool begins after items that are still there. `id` unless given.
   */
  itemKey?: readonly string[];
}

/** A body that may be larger than others. Each account may send one at a time. */
export interface LargeBody<Body, Checked> {
  maxKib: number;
  /** A media type beside JSON, and the field of the body that such a text becomes. */
  text: { type: string; field: string };
  /** How many faults are listed. */
  maxDetails: number;
  /** Checks what the schema of the body leaves open, piece by piece; returns what the handler gets. */
  check(body: Body, errors: ValidationErrors, account: Account): Promise<Checked>;
}

/** A response whose status follows from the method unless it is given: 201 for POST, else 200. */
type DeclaredResponse = Omit<OperationResponse, 'status'> &
  Partial<Pick<OperationResponse, 'status'>>;

/** An operation of the API as data: route, tool, document and audit row come from this object. */
export interface Operation extends OperationBase<string> {
  of: 'garden' | 'person' | 'member';
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  access: Access;
  /** The name of the rate budget that a call spends. */
  limit: string;
  response: OperationResponse;
  query?: Joi.ObjectSchema;
  body?: Joi.ObjectSchema;
  /** Whether the body may be left out, like one without fields. */
  bodyIsOptional?: true;
  large?: LargeBody<unknown, unknown>;
  /**
   * The field of the response that is shown once, unless it is null, or several. It is not stored for
   * retries: they get 409 and the id of the record.
   */
  secret?: string | readonly string[];
  /** Whether it takes an Idempotency-Key, as every POST does. */
  idempotent: boolean;
  /** Whether its handler runs its own transactions, if any, as that of every PUT does. */
  isOutside?: true;
  /** Whether a response stays the same as long as nothing is written to the account. */
  cacheable: boolean;
  /** Reads the record as responses show it, to compare with If-Match. */
  state?(call: object): Promise<unknown>;
  /** Only the chain calls it, with input that its schemas have validated; `read` and the others check its type. */
  handler(call: object): Promise<unknown>;
}

interface ReadOperation<Query, Names extends string> extends OperationBase<Names> {
  access: Access;
  /** Why the response may change without a write to the account; by default it does not. */
  notCacheable?: string;
  /** `reads` unless given. */
  limit?: string;
  response: DeclaredResponse;
  query?: Joi.ObjectSchema<Query>;
  /** Returns a value, or an async iterable of batches of an array without a bound, sent as they come. */
  handler: (call: ReadCall<Query, Names>) => Promise<unknown>;
}

interface WriteOperation<Body, Names extends string, Query, Checked>
  extends OperationBase<Names>, Pick<Operation, 'secret' | 'bodyIsOptional'> {
  method: 'POST' | 'PATCH' | 'DELETE';
  access: Access;
  /** `writes` unless given. */
  limit?: string;
  response: DeclaredResponse;
  /** Where it has `dryRun`, a call with `dryRun: true` is undone, and its status is 200. */
  query?: Joi.ObjectSchema<Query>;
  body?: Joi.ObjectSchema<Body>;
  large?: LargeBody<Body, Checked>;
  /** As of an operation; the handler of the GET at the same path unless given. */
  state?: (call: WriteCall<Body, Names>) => Promise<unknown>;
  handler: (call: WriteCall<Checked, Names, Query>) => Promise<unknown>;
}

interface PutOperation<Body, Names extends string> extends OperationBase<Names> {
  access: { scope: string };
  limit?: string;
  response: DeclaredResponse;
  body: Joi.ObjectSchema<Body>;
  handler: (call: PutCall<Body, Names>) => Promise<unknown>;
}

interface ActOperation<Names extends string> extends OperationBase<Names> {
  access: { scope: string };
  response: DeclaredResponse;
  handler: (call: ReadCall<undefined, Names>) => Promise<unknown>;
}

type DeleteOperation<Names extends string> = Omit<
  WriteOperation<undefined, Names, undefined, undefined>,
  'method' | 'response'
>;

/** Declares an operation that changes nothing. */
export function read<Query = undefined, Names extends string = never>({
  notCacheable,
  ...operation
}: ReadOperation<Query, Names>): Operation {
  return {
    of: 'garden',
    limit: 'reads',
    ...operation,
    method: 'GET',
    idempotent: false,
    cacheable: notCacheable === undefined && operation.notConditional === undefined,
    response: { status: 200, ...operation.response },
  };
}

/** Declares an operation that changes the data of the account, in one transaction. */
export function write<
  Body = undefined,
  Names extends string = never,
  Query = undefined,
  Checked = Body,
>(operation: WriteOperation<Body, Names, Query, Checked>): Operation {
  const isPost = operation.method === 'POST';
  return {
    of: 'garden',
    limit: 'writes',
    ...operation,
    idempotent: isPost,
    cacheable: false,
    response: { status: isPost ? 201 : 200, ...operation.response },
  };
}

/** Declares an operation that creates a record or changes it, and may be repeated. */
export function put<Body, Names extends string = never>(
  operation: PutOperation<Body, Names>,
): Operation {
  return {
    of: 'garden',
    limit: 'writes',
    ...operation,
    method: 'PUT',
    idempotent: false,
    isOutside: true,
    cacheable: false,
    response: { status: 200, ...operation.response },
  };
}

/** Declares a POST that acts outside of the database, and so in no transaction. It may wait for others. */
export function act<Names extends string = never>(operation: ActOperation<Names>): Operation {
  return {
    of: 'garden',
    limit: 'writes',
    ...operation,
    method: 'POST',
    idempotent: true,
    isOutside: true,
    cacheable: false,
    response: { status: 200, ...operation.response },
  };
}

/** Declares an operation that deletes a record. The response is `{ success: true }`. */
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
