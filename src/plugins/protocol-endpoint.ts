import type { Context } from 'koa';

import type { ApiError, ErrorCode } from '../core/errors';
import type { ResponseHeaderName } from '../core/http/response-headers';
import type { Principal } from '../core/identity';
import type { PortSetting } from '../core/settings/settings';
import type { JsonSchema } from '../fields/json-schema';
import type { Operation } from './operation';

/** An endpoint that is not an operation, such as another protocol over all operations. */
export interface ProtocolEndpoint {
  path: string;
  /** Whether the path with a trailing slash is served too. */
  withSlash?: boolean;
  /** Whether every port of its own serves it too. */
  isOnEveryPort?: boolean;
  /** The setting of a port of its own. Where it is set, the endpoint is served on that port alone. */
  ownPort?: PortSetting<number | undefined>;
  /** Whether scripts of any origin may call it, regardless of CORS_ORIGINS. */
  anyOrigin?: boolean;
  methods: Readonly<Partial<Record<'GET' | 'POST', ProtocolMethod>>>;
  /** Prepares what only a server needs, before it accepts requests. */
  prepare?: (description: ApiDescription) => void;
}

export interface ProtocolMethod {
  summary: string;
  description?: string;
  /** As of an operation. */
  operationId?: string;
  /**
   * Who may call it; each operation that it calls checks its own scope. An authenticated request that
   * calls no operation spends one of the account's reads.
   */
  access: { anyToken: string } | { public: string };
  /** The body of a POST. */
  body?: JsonSchema;
  /** The responses by status, without errors of the API. */
  responses?: Readonly<Record<number, ProtocolResponse>>;
  /** Errors besides those of tokens and of the service itself. */
  errors?: readonly ErrorCode[];
  /** Whether what it refuses counts as a failed authentication of the address, and shows that budget. */
  countsFailures?: boolean;
  /** An alternative body of token errors. */
  tokenErrorBody?: JsonSchema;
  /** Responds with an error, if not with the Error body; the status and the headers are set. */
  showError?: (ctx: Context, error: ApiError) => void;
  /** Whether monitoring calls it at regular intervals: it is then logged at debug level. */
  isProbe?: boolean;
  handler: (ctx: Context, api: ProtocolApi) => Promise<void>;
}

/** Declares an endpoint that takes GET only. */
export function getEndpoint(path: string, method: ProtocolMethod): ProtocolEndpoint {
  return { path, methods: { GET: method } };
}

interface ProtocolResponse {
  description: string;
  /** Headers besides those that follow from the method and the status. */
  headers?: readonly ResponseHeaderName[];
  /** The schema of the body by media type; none for an empty body. */
  content?: Readonly<Record<string, JsonSchema>>;
}

/** An OpenAPI tag. */
export interface Tag {
  name: string;
  description: string;
}

/** The input of a call before validation. */
export interface CallInput {
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
  /** Faults that the protocol found; `what` completes a sentence about the field. */
  faults?: readonly { field: string; what: string }[];
  /** The page of a list to return, for callers that cannot read long responses. */
  page?: PageRequest | undefined;
  /** The idempotency key, instead of that in the header. */
  key?: string | undefined;
}

export interface PageRequest {
  /** The maximum length of the response as JSON, in UTF-16 code units; a page has at least one item. */
  maxLength: number;
  /** `limit` and `cursor` of a list without pages, before validation. */
  query: object;
}

/** The response to a call. */
export interface CallResult {
  status: number;
  json: string;
}

/** The whole API, in a fixed order. */
export interface ApiDescription {
  operations: readonly Operation[];
  protocols: readonly ProtocolEndpoint[];
  /** Tags with their operations and protocols. */
  tags: readonly (Tag & { of: ReadonlySet<Operation | ProtocolEndpoint> })[];
  /** The scopes of all plugins, each with what it permits. */
  scopes: ReadonlyMap<string, string>;
  /** The errors of all plugins and the host. */
  errors: readonly ErrorCode[];
  /** Instructions for assistants, from all plugins. */
  instructions: readonly string[];
}

/** What a protocol endpoint can use: the same steps as REST calls. */
export interface ProtocolApi extends ApiDescription {
  /**
   * Authenticates the caller.
   *
   * @throws ApiError unauthorized, invalid_token, rate_limited, service_unavailable
   */
  authenticate(ctx: Context): Promise<Principal>;
  /** The address, or network, whose budget an unauthenticated request spends. */
  clientOf(ctx: Context): string;
  /**
   * Refuses an address whose budget of failed authentications is spent.
   *
   * @throws ApiError rate_limited
   */
  refuseSpent(ctx: Context): Promise<void>;
  /**
   * Spends one failed authentication of the client's address.
   *
   * @throws ApiError rate_limited
   */
  recordFailure(ctx: Context): Promise<void>;
  /**
   * Makes a response with all data of an account, under the limit of exports.
   *
   * @throws ApiError service_unavailable
   */
  limitExport(ctx: Context, account: string, respond: () => Promise<void>): Promise<void>;
  /**
   * Parses the body as JSON, and renews the garden to which the token is bound.
   *
   * @throws ApiError invalid_json, unsupported_media_type, payload_too_large, or validation_error if the structure of
   *   the body is too large; invalid_token if the garden was closed meanwhile
   */
  readJson(ctx: Context): Promise<unknown>;
  /**
   * Calls an operation for the authenticated caller, with all steps from its rate limit onwards.
   *
   * @throws ApiError and nothing else
   */
  call(operation: Operation, given: CallInput, ctx: Context): Promise<CallResult>;
}
