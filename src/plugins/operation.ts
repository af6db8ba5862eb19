import type Joi from 'joi';
import type { Logger } from 'pino';

import type { Transaction } from '../data/transaction';
import type { ErrorCode } from '../errors';
import type { Account, Tier } from '../identity';

/** Who may call: holders of a scope, of any valid token, or everybody; the last with a reason. */
export type Access = { scope: string } | { anyToken: string } | { public: string };

/** What an assistant sees of an operation, or why it sees nothing. */
export type Tool = { name: string; description: string } | { none: string };

/** A part of the service that only some tiers have. */
export interface Feature {
  /** Completes the sentence "… is not part of your tier." */
  name: string;
  tiers: readonly Tier[];
  /** What an assistant should do instead, in a sentence that may name tools. */
  remedy?: string;
}

interface OperationFacts {
  /** Path with its parameters in braces: `/api/records/{id}`. */
  path: string;
  summary: string;
  access: Access;
  /** Name of the rate budget that a call spends, or why it spends none. */
  limit: string | { none: string };
  feature?: Feature;
  /** What it may fail with, beyond what follows from the rest. */
  errors?: readonly ErrorCode[];
  tool: Tool;
}

/** Every path parameter, and what a value that is not a UUID means: the same as an unknown one. */
interface PathParams<Names extends string> {
  params?: Readonly<Record<Names, ErrorCode>>;
}

interface Answer {
  status: 200 | 201;
  schema: Joi.Schema;
  description: string;
  /** Media type where the answer is not JSON. */
  type?: string;
}

interface CallFacts {
  now: Date;
  log: Logger;
}

/** What the handler of a read gets. */
export interface ReadCall<Query, Names extends string> extends CallFacts {
  account: Account;
  /** Text forms of UUIDs, checked and in lower case. */
  params: Readonly<Record<Names, string>>;
  query: Query;
}

/** What the handler of a public read gets. */
export type PublicCall = CallFacts;

/** What the handler of a write gets. It runs again when its transaction has to be retried. */
export interface WriteCall<Body, Names extends string> extends CallFacts {
  tx: Transaction;
  params: Readonly<Record<Names, string>>;
  body: Body;
}

/** An operation of the API as data: route, tool, document and audit row come from this object. */
export interface Operation extends OperationFacts, PathParams<string> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  response: Answer;
  query?: Joi.ObjectSchema;
  body?: Joi.ObjectSchema;
  /** Name of the quota of which a successful call takes one. */
  quota?: string;
  /** Whether it takes an Idempotency-Key. */
  idempotent?: boolean;
  handler: Handler;
}

/**
 * A handler after its types were checked against its schemas. `never` because only the composer
 * calls it, with what those very schemas let through.
 */
export type Handler = (call: never) => Promise<unknown>;

interface ReadOperation<Query, Names extends string> extends OperationFacts, PathParams<Names> {
  access: { scope: string } | { anyToken: string };
  response: Answer;
  query?: Joi.ObjectSchema<Query>;
  handler: (call: ReadCall<Query, Names>) => Promise<unknown>;
}

interface PublicOperation extends OperationFacts {
  access: { public: string };
  response: Answer;
  handler: (call: PublicCall) => Promise<unknown>;
}

interface WriteOperation<Body, Names extends string> extends OperationFacts, PathParams<Names> {
  access: { scope: string } | { anyToken: string };
  method: 'POST' | 'PATCH' | 'DELETE';
  response: Answer;
  body?: Joi.ObjectSchema<Body>;
  quota?: string;
  idempotent?: boolean;
  handler: (call: WriteCall<Body, Names>) => Promise<unknown>;
}

/** Declares an operation that changes nothing. */
export function read<Query = undefined, Names extends string = never>(
  operation: ReadOperation<Query, Names>,
): Operation {
  return { method: 'GET', ...operation };
}

/** Declares a read that needs no token. */
export function publicRead(operation: PublicOperation): Operation {
  return { method: 'GET', ...operation };
}

/** Declares an operation that changes the account's data: it runs in one transaction. */
export function write<Body = undefined, Names extends string = never>(
  operation: WriteOperation<Body, Names>,
): Operation {
  return operation;
}

/** `GET /api/records`: how messages and logs name an operation. */
export function operationName(operation: { method: string; path: string }): string {
  return `${operation.method} ${operation.path}`;
}
