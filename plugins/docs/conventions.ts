import { MIN_COMPRESSED } from '../../src/core/http/content';
import { MAX_DETAILS } from '../../src/core/errors';
import { hostSettings } from '../../src/core/settings/host-settings';
import {
  DEFAULT_PAGE_SIZE,
  MAX_KEY_LENGTH,
  MAX_PAGE_SIZE,
} from '../../src/core/http/request-limits';

/** The rules of every request, for the OpenAPI document and docs/api.md. */
export const CONVENTIONS: readonly { topic: string; rule: string }[] = [
  {
    topic: 'Paging',
    rule: `A paged list has \`items\`, \`hasMore\` and \`nextCursor\`. Send \`nextCursor\` back as \`cursor\` for the next page. \`limit\` is 1 to ${MAX_PAGE_SIZE}, ${DEFAULT_PAGE_SIZE} by default; a page may hold fewer while \`hasMore\` is true. An event that exists throughout appears exactly once, whatever is logged meanwhile; one whose \`occurredAt\` changes may appear twice. A cursor is opaque and valid only for its list; any other is 400 \`invalid_cursor\`, or 503 while a newer release, which may have made it, takes over.`,
  },
  {
    topic: 'Retrying',
    rule: `Give every \`POST\` an \`Idempotency-Key\` (1 to ${MAX_KEY_LENGTH} characters) and repeat the request as often as the network needs. For ${hostSettings.idempotencyKeepHours.fallback / 24} days (\`${hostSettings.idempotencyKeepHours.name}\`) a repeated request returns the first response again, with \`Idempotent-Replayed: true\`, and has no second effect. After a 503 or a lost connection this is the only safe way to retry. \`PATCH\` and \`DELETE\` may be repeated as they are; a second \`DELETE\` is 404. Wait before each retry as long as \`Retry-After\` says, otherwise with exponential backoff.`,
  },
  {
    topic: 'Limits',
    rule: 'Every response shows in `RateLimit` and `RateLimit-Policy` what is left of its budget for the minute. A 429 `rate_limited` and a 503 `service_unavailable` say in `Retry-After` how many seconds to wait. The tier limits the number of records; `GET /api/account` shows limits and usage.',
  },
  {
    topic: 'Types',
    rule: '`"7"` is not a number and `1` is not a boolean. `null` is valid only where a field is nullable. Unknown fields and query parameters are refused, and so is a repeated parameter.',
  },
  {
    topic: 'Strings',
    rule: 'Strings are stored as sent, without trimming. Lengths count UTF-16 code units, so most emoji count as two. NUL and lone surrogates are refused.',
  },
  {
    topic: 'Date-times',
    rule: 'RFC 3339 with an offset (`2026-03-01T09:30:00+01:00`), kept to the millisecond. A date without a time, an impossible date, a leap second (`:60`) and a year outside 0 to 9999 are refused.',
  },
  {
    topic: 'Ids',
    rule: "UUIDs, in either case. In a path, a malformed id, an unknown id and the id of another account's record all get the same 404.",
  },
  {
    topic: 'Validation errors',
    rule: `A 400 \`validation_error\` reports everything that is wrong with the body and the query: \`error\` has the first problem and the number of others, \`details\` the first ${MAX_DETAILS} (more where an operation says so) as \`[{ field, message }]\`. \`details\` is absent if no field is at fault. Messages are for people and may change; codes do not.`,
  },
  {
    topic: 'Conditions',
    rule: 'Reads with a token carry an `ETag`. Send it as `If-None-Match` to get 304 without a body while the response is the same. Send the `ETag` of a single record, or `"u:<updatedAt>"` with its `updatedAt`, as `If-Match` to change or delete it only in that state; otherwise the response is 412 `precondition_failed`, and nothing changes.',
  },
  {
    topic: 'Compression',
    rule: `Responses of ${MIN_COMPRESSED / 1024} KiB and more are compressed with Brotli or gzip for clients that accept it.`,
  },
  {
    topic: 'Methods',
    rule: '`HEAD` works wherever `GET` does, and `OPTIONS` returns the header `Allow`. Any other method that a path does not take is 405 `method_not_allowed` with `Allow`; an unknown path is 404 `not_found`.',
  },
];
