import { MAX_BODY_KIB } from './http/request-limits';
import { capitalized } from './text/text';

/**
 * A kind of failure with a code that clients may rely on.
 *
 * Every code is made once, beside what it is about, and listed in the manifest of its plugin
 * (or in {@link hostErrors}), so that the list shown to people is the list in the code.
 */
export class ErrorCode {
  /**
   * @param code stable, snake_case; what programs look at
   * @param status the HTTP status it usually comes with
   * @param meaning one plain English sentence; the message where nothing more exact is known
   * @param remedy what an assistant should do next, in a sentence that may name tools
   */
  constructor(
    readonly code: string,
    readonly status: number,
    readonly meaning: string,
    readonly remedy?: string,
  ) {}

  /** The same code where it comes with another status, and there means something narrower. */
  at(status: number, meaning: string, remedy = this.remedy): ErrorCode {
    return new ErrorCode(this.code, status, meaning, remedy);
  }

  /** An error of this kind. */
  error(message: string = this.meaning, options: ApiErrorOptions = {}): ApiError {
    return new ApiError(this, message, options);
  }
}

/**
 * The error for an id that none of the account's records of a kind has.
 *
 * @param kind a word such as `record`: the code is then `record_not_found`
 */
export function recordNotFound(kind: string, remedy: string): ErrorCode {
  return new ErrorCode(`${kind}_not_found`, 404, `${capitalized(kind)} not found.`, remedy);
}

/**
 * The error for a record over the limit of its kind.
 *
 * @param kind a word such as `record`: the code is then `record_limit_reached`
 */
export function limitReached(kind: string, remedy: string): ErrorCode {
  return new ErrorCode(
    `${kind}_limit_reached`,
    403,
    `${capitalized(kind)} limit of the tier reached.`,
    remedy,
  );
}

interface ApiErrorOptions {
  status?: number;
  headers?: Record<string, string>;
  details?: readonly FieldFault[];
  /** What operators need to know besides; it is in the log, and callers do not get it. */
  logged?: string;
  /** What is sent where the caller's protocol has a body of its own for errors. */
  sentAs?: object;
}

/** How many faults an error lists at most. */
export const MAX_DETAILS = 20;

/** What is wrong with one field of a body or query, in one sentence that names it. */
export interface FieldFault {
  field: string;
  message: string;
  /** Of a text that was sent. */
  line?: number;
}

/** The answer to a request that fails (docs/api.md, "Errors"). */
export class ApiError extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly details: readonly FieldFault[] | undefined;
  readonly logged: string | undefined;
  /** The body of the answer: that of {@link body}, unless the caller's protocol has its own. */
  readonly sent: object;

  constructor(
    readonly kind: ErrorCode,
    message: string,
    options: ApiErrorOptions = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = options.status ?? kind.status;
    this.details = options.details;
    this.logged = options.logged;
    this.sent = options.sentAs ?? this.body;
    // Every 503 says when to come back (docs/api.md, "Requests").
    this.headers = { ...(this.status === 503 ? { 'Retry-After': '1' } : {}), ...options.headers };
  }

  /** The Error body (docs/specification.md, 2.13). */
  get body(): { error: string; code: string; details?: readonly FieldFault[] } {
    const { message, kind, details } = this;
    return { error: message, code: kind.code, ...(details ? { details } : {}) };
  }
}

export const validationError = new ErrorCode(
  'validation_error',
  400,
  'A field of the request is missing or not valid.',
);

/**
 * The error for fields that are not valid: the message is that of the first, and says how many more
 * there are.
 *
 * @param count how many there are, where not all are listed
 */
export function fieldErrors(faults: readonly FieldFault[], count = faults.length): ApiError {
  const more = count - 1;
  const also = more === 0 ? '' : ` (and ${more} more ${more === 1 ? 'fault' : 'faults'})`;
  const [{ line, message } = { message: validationError.meaning }] = faults;
  const where = line === undefined ? '' : `Line ${line}: `;
  return validationError.error(where + message.replace(/\.$/, `${also}.`), { details: faults });
}

/** The error for one field that is not valid, where only the operation itself can know. */
export function fieldError(field: string, message: string): ApiError {
  return fieldErrors([{ field, message }]);
}

export const invalidJson = new ErrorCode(
  'invalid_json',
  400,
  'The request body is not a JSON object.',
);
export const unsupportedMediaType = new ErrorCode(
  'unsupported_media_type',
  415,
  'The request body must be sent as application/json in UTF-8.',
);
export const payloadTooLarge = new ErrorCode(
  'payload_too_large',
  413,
  `The request body is larger than ${MAX_BODY_KIB} KiB.`,
);
export const unauthorized = new ErrorCode(
  'unauthorized',
  401,
  'Missing token; send it as Authorization: Bearer TOKEN.',
);
export const invalidToken = new ErrorCode(
  'invalid_token',
  401,
  'The token is malformed, unknown, revoked or expired.',
);
export const insufficientScope = new ErrorCode(
  'insufficient_scope',
  403,
  'The token does not carry the scope that this request needs.',
);
export const featureNotAvailable = new ErrorCode(
  'feature_not_available',
  403,
  'This feature is not part of your tier.',
);
export const rateLimited = new ErrorCode(
  'rate_limited',
  429,
  'Too many requests; try again after the number of seconds in Retry-After.',
);
export const notFound = new ErrorCode('not_found', 404, 'Path not found.');
export const methodNotAllowed = new ErrorCode(
  'method_not_allowed',
  405,
  'Method not allowed; the header Allow lists those that this path takes.',
);
export const invalidCursor = new ErrorCode(
  'invalid_cursor',
  400,
  'Invalid cursor; start again without it.',
  'Make the same call without cursor.',
);
export const preconditionFailed = new ErrorCode(
  'precondition_failed',
  412,
  'The record has changed since the version in If-Match.',
);
export const idempotencyConflict = new ErrorCode(
  'idempotency_conflict',
  409,
  'A request with this Idempotency-Key is still running.',
  'Wait a few seconds, then make the same call once more.',
);
export const idempotencyMismatch = new ErrorCode(
  'idempotency_mismatch',
  422,
  'This Idempotency-Key has been used with another request.',
  'Make this call with another Idempotency-Key, or without one.',
);
export const serviceUnavailable = new ErrorCode(
  'service_unavailable',
  503,
  'The service is temporarily unavailable; try again shortly.',
);
export const internalError = new ErrorCode(
  'internal_error',
  500,
  'Internal error; it has been logged under the request id.',
);

/** The codes that any request may meet; plugins add those of their resources. */
export const hostErrors: readonly ErrorCode[] = [
  validationError,
  invalidJson,
  unsupportedMediaType,
  payloadTooLarge,
  unauthorized,
  invalidToken,
  insufficientScope,
  featureNotAvailable,
  rateLimited,
  notFound,
  methodNotAllowed,
  invalidCursor,
  preconditionFailed,
  idempotencyConflict,
  idempotencyMismatch,
  serviceUnavailable,
  internalError,
];
