import { MAX_BODY_KIB } from './http/request-limits';
import { capitalized } from './text/text';

/**
 * A kind of error, with a stable code.
 *
 * Each is declared once, and listed in the manifest of its plugin or in {@link hostErrors}, from which
 * the documents are made.
 */
export class ErrorCode {
  /**
   * @param code stable, in snake_case
   * @param status the usual HTTP status
   * @param meaning one plain English sentence, the default message
   * @param remedy what an assistant should do next, in a sentence that may name tools
   */
  constructor(
    readonly code: string,
    readonly status: number,
    readonly meaning: string,
    readonly remedy?: string,
  ) {}

  /** The same code with another status and a narrower meaning. */
  at(status: number, meaning: string, remedy = this.remedy): ErrorCode {
    return new ErrorCode(this.code, status, meaning, remedy);
  }

  error(message: string = this.meaning, options: ApiErrorOptions = {}): ApiError {
    return new ApiError(this, message, options);
  }
}

/**
 * Declares the error for an unknown id.
 *
 * @param kind for example `record`, whose code is `record_not_found`
 */
export function recordNotFound(kind: string, remedy: string): ErrorCode {
  return new ErrorCode(`${kind}_not_found`, 404, `${capitalized(kind)} not found.`, remedy);
}

/**
 * Declares the error for a record over the limit of the tier.
 *
 * @param kind for example `record`, whose code is `record_limit_reached`
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
  /** A reason for the log, which callers do not get. */
  logged?: string;
  /** The response body, if the protocol of the caller has its own for errors. */
  sentAs?: object;
}

/** Faults listed in an error. */
export const MAX_DETAILS = 20;

export interface FieldFault {
  field: string;
  /** A sentence that names the field. */
  message: string;
  /** The line in a text. */
  line?: number;
}

/** An error response (docs/api.md, "Errors"). */
export class ApiError extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly details: readonly FieldFault[] | undefined;
  readonly logged: string | undefined;
  /** The response body: {@link body}, unless the protocol of the caller has its own. */
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
    // Every 503 has it (docs/api.md, "Requests").
    this.headers = { ...(this.status === 503 ? { 'Retry-After': '1' } : {}), ...options.headers };
  }

  /** The Error body (docs/specification.md, 2.13). */
  get body(): { error: string; code: string; details?: readonly FieldFault[] } {
    const { message, kind, details } = this;
    return { error: message, code: kind.code, ...(details ? { details } : {}) };
  }
}

/** The errors of the host; plugins add those of their resources. */
export const hostErrors: ErrorCode[] = [];

function hostError(...given: ConstructorParameters<typeof ErrorCode>): ErrorCode {
  const error = new ErrorCode(...given);
  hostErrors.push(error);
  return error;
}

export const validationError = hostError(
  'validation_error',
  400,
  'A field of the request is missing or not valid.',
);

/**
 * The error for invalid fields. Its message is that of the first, with the number of others.
 *
 * @param count the number of faults, if not all are listed
 */
export function fieldErrors(faults: readonly FieldFault[], count = faults.length): ApiError {
  const more = count - 1;
  const also = more === 0 ? '' : ` (and ${more} more ${more === 1 ? 'fault' : 'faults'})`;
  const [{ line, message } = { message: validationError.meaning }] = faults;
  const where = line === undefined ? '' : `Line ${line}: `;
  return validationError.error(where + message.replace(/\.$/, `${also}.`), { details: faults });
}

/** The error for one invalid field, thrown by handlers. */
export function fieldError(field: string, message: string): ApiError {
  return fieldErrors([{ field, message }]);
}

export const invalidJson = hostError('invalid_json', 400, 'The request body is not a JSON object.');
export const invalidText = hostError(
  'invalid_text',
  400,
  'The request body is empty, or not text in UTF-8, or in UTF-16 with a byte order mark.',
);
export const unsupportedMediaType = hostError(
  'unsupported_media_type',
  415,
  'The request body must be sent as application/json in UTF-8.',
);
export const payloadTooLarge = hostError(
  'payload_too_large',
  413,
  `The request body is larger than ${MAX_BODY_KIB} KiB.`,
);
export const unauthorized = hostError(
  'unauthorized',
  401,
  'Missing token; send it as Authorization: Bearer TOKEN.',
);
export const invalidToken = hostError(
  'invalid_token',
  401,
  'The token is malformed, unknown, revoked or expired.',
);
export const insufficientScope = hostError(
  'insufficient_scope',
  403,
  'The token lacks the scope that this request needs.',
);
export const gardenNotFound = hostError(
  'garden_not_found',
  404,
  'There is no garden of this id that is shared with you.',
);
export const featureNotAvailable = hostError(
  'feature_not_available',
  403,
  'This feature is not part of your tier.',
);
export const rateLimited = hostError(
  'rate_limited',
  429,
  'Too many requests; try again after the number of seconds in Retry-After.',
);
export const notFound = hostError('not_found', 404, 'Path not found.');
export const methodNotAllowed = hostError(
  'method_not_allowed',
  405,
  'Method not allowed; the Allow header lists the methods of this path.',
);
export const invalidCursor = hostError(
  'invalid_cursor',
  400,
  'Invalid cursor; start again without it.',
  'Repeat the call without cursor.',
);
export const preconditionFailed = hostError(
  'precondition_failed',
  412,
  'The record has changed since the version in If-Match.',
);
export const idempotencyConflict = hostError(
  'idempotency_conflict',
  409,
  'A request with this Idempotency-Key is still running.',
  'Wait a few seconds, then repeat the call.',
);
export const idempotencyMismatch = hostError(
  'idempotency_mismatch',
  422,
  'This Idempotency-Key has been used with another request.',
  'Repeat the call with another Idempotency-Key, or without one.',
);
export const serviceUnavailable = hostError(
  'service_unavailable',
  503,
  'The service is temporarily unavailable; try again shortly.',
);
export const internalError = hostError(
  'internal_error',
  500,
  'Internal error; it has been logged under the request id.',
);

/** A problem for the operator to solve; the message explains it in plain sentences. */
export class OperatorError extends Error {}
