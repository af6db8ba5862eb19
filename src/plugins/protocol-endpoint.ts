import type { Context } from 'koa';

import type { ErrorCode } from '../core/errors';
import type { Principal } from '../core/identity';
import type { PortSetting } from '../core/settings/settings';
import type { JsonSchema } from '../fields/json-schema';
import type { Operation } from './operation';

/** Another protocol at a path of its own, over the operations that all plugins declare. */
export interface ProtocolEndpoint {
  path: string;
  /** Whether it is at the same path with a slash behind it as well. */
  withSlash?: boolean;
  /** The setting that gives it a port of its own; where it is set, it is served there and nowhere else. */
  ownPort?: PortSetting<number | undefined>;
  /** Whether scripts of all pages may call it, whatever CORS_ORIGINS says. */
  anyOrigin?: boolean;
  methods: Readonly<Partial<Record<'GET' | 'POST', ProtocolMethod>>>;
  /** Loads and makes what only a server needs, before it serves: nobody has to wait for it then. */
  prepare?: (description: ApiDescription) => void;
}

export interface ProtocolMethod {
  summary: string;
  description?: string;
  /** As of an operation. */
  operationId?: string;
  /**
   * Who may come in; what they may then call is up to each operation. A request with a good token
   * that calls none spends one of its account's reads.
   */
  access: { anyToken: string } | { public: string };
  /** What a POST takes. */
  body?: JsonSchema;
  /** What it answers by status, errors of the API left out. */
  responses?: Readonly<Record<number, ProtocolResponse>>;
  /** Errors beyond those of tokens and of the service itself. */
  errors?: readonly ErrorCode[];
  /** Another body that errors of tokens may have. */
  tokenErrorBody?: JsonSchema;
  /** As of an operation. */
  isProbe?: boolean;
  handler: (ctx: Context, api: ProtocolApi) => Promise<void>;
}

interface ProtocolResponse {
  description: string;
  /** The schema of its body by media type; there is none where it is empty. */
  content?: Readonly<Record<string, JsonSchema>>;
}

/** What the operations and protocols of a plugin are about, for the OpenAPI document. */
export interface Tag {
  name: string;
  description: string;
}

/** What a caller sent, before it is checked. */
export interface CallInput {
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
  /** What the protocol itself found wrong; each reads on from the name of the field. */
  faults?: readonly { field: string; what: string }[];
  /** The part of a list that is wanted, by callers who cannot read long answers. */
  part?: ListPart | undefined;
}

export interface ListPart {
  /** How long its JSON may be, in UTF-16 code units; it has one item, however long that is. */
  maxLength: number;
  /** nextCursor of the part before. */
  cursor?: string | undefined;
}

/** What a tool call answered, be it made now or stored under its Idempotency-Key. */
export interface ToolResult {
  status: number;
  json: string;
}

/** All that the API consists of, in a fixed order. */
export interface ApiDescription {
  operations: readonly Operation[];
  protocols: readonly ProtocolEndpoint[];
  /** What operations and protocols are about, and which of them. */
  tags: readonly (Tag & { of: ReadonlySet<Operation | ProtocolEndpoint> })[];
  /** Scopes that tokens may carry, each with what it permits. */
  scopes: ReadonlyMap<string, string>;
  /** Every kind of error that a request may meet. */
  errors: readonly ErrorCode[];
  /** What plugins say to an assistant about their resources. */
  instructions: readonly string[];
}

/** What an endpoint of another protocol works with: the very steps that REST calls go through. */
export interface ProtocolApi extends ApiDescription {
  /**
   * Who calls.
   *
   * @throws ApiError unauthorized, invalid_token, rate_limited, service_unavailable
   */
  authenticate(ctx: Context): Promise<Principal>;
  /** Whose budget a request spends that no account pays for: its address, or a part of it. */
  clientOf(ctx: Context): string;
  /**
   * Refuses an address that has paid for too many.
   *
   * @throws ApiError rate_limited
   */
  refuseSpent(ctx: Context): Promise<void>;
  /**
   * Has the client's address pay for credentials that were not good.
   *
   * @throws ApiError rate_limited
   */
  recordFailure(ctx: Context): Promise<void>;
  /**
   * The body as JSON.
   *
   * @throws ApiError invalid_json, unsupported_media_type, payload_too_large, or validation_error
   *   where it is nested too deep
   */
  readJson(ctx: Context): Promise<unknown>;
  /**
   * Calls an operation for who was authenticated: its rate limit, scope, tier, validation and all.
   *
   * @throws ApiError, no other
   */
  call(operation: Operation, given: CallInput, ctx: Context): Promise<ToolResult>;
}
