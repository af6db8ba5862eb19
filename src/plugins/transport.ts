import type { Context } from 'koa';

import type { Principal } from '../core/identity';
import type { Operation } from './operation';

/** Another protocol at a path of its own, over the operations that all plugins declare. */
export interface Transport {
  path: string;
  methods: Readonly<Partial<Record<'GET' | 'POST', TransportMethod>>>;
}

export interface TransportMethod {
  summary: string;
  /** Who may come in; what they may then call is up to each operation. */
  access: { anyToken: string } | { public: string };
  handler: (ctx: Context, api: TransportApi) => Promise<void>;
}

/** What a caller sent, before it is checked. */
export interface CallInput {
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
}

/** What an operation answered: a value, the items of an array, or the JSON of a stored response. */
export type CallResult =
  | { value: unknown }
  | { items: AsyncIterable<unknown> }
  | { status: number; json: string; replayed: boolean };

/** All that the API consists of, in a fixed order. */
export interface ApiDescription {
  operations: readonly Operation[];
  transports: readonly Transport[];
  /** Scopes that tokens may carry, each with what it permits. */
  scopes: ReadonlyMap<string, string>;
  /** What plugins say to an assistant about their resources. */
  instructions: readonly string[];
}

/** What a transport works with: the very steps that REST calls go through. */
export interface TransportApi extends ApiDescription {
  /** Who calls. @throws ApiError unauthorized, invalid_token, rate_limited */
  authenticate(ctx: Context): Promise<Principal>;
  /**
   * The body as JSON.
   *
   * @throws ApiError invalid_json, unsupported_media_type, payload_too_large, or validation_error
   *   where it is nested too deep
   */
  readJson(ctx: Context): Promise<unknown>;
  /** Calls an operation: its limit, scope, tier, validation and all. @throws ApiError, no other */
  call(
    operation: Operation,
    principal: Principal,
    input: CallInput,
    ctx: Context,
  ): Promise<CallResult>;
}
