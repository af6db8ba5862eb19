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
    rule: `A paged list has \`items\`, \`hasMore\` and \`nextCursor\`. Send \`nextCursor\` back as \`cursor\` for the next page. \`limit\` is 1 to ${MAX_PAGE_SIZE}, ${DEFAULT_PAGE_SIZE} by default; a page may hold fewer while \`hasMore\` is true. An event that exists throughout is seen exactly once, whatever is logged meanwhile; one that is moved to another moment may be seen at both. A cursor is opaque and only good for the list that gave it; any other is 400 \`invalid_cursor\`.`,
  },
  {
    topic: 'Retrying',
    rule: `Give every \`POST\` an \`Idempotency-Key\` of your own (1 to ${MAX_KEY_LENGTH} characters) and repeat it as often as the network needs. For ${hostSettings.idempotencyKeepHours.fallback / 24} days (\`${hostSettings.idempotencyKeepHours.name}\`) a repeated request gets the first answer again, with \`Idempotent-Replayed: true\`, and has no second effect. After a 503 or a lost connection this is the only safe way to retry. \`PATCH\` and \`DELETE\` may be repeated as they are; a second \`DELETE\` is 404. Wait before each retry as long as \`Retry-After\` says, else twice as long as before.`,
  },
  {
    topic: 'Limits',
    rule: 'Each answer shows in `RateLimit` and `RateLimit-Policy` what is left of its budget for the minute. A 429 `rate_limited` and a 503 `service_unavailable` say in `Retry-After` how many seconds to wait. The number of records depends on the tier of the account; `GET /api/account` shows limits and use.',
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
    topic: 'Faults',
    rule: `A 400 \`validation_error\` reports all faults of the body and the query: \`error\` has the first one and the number of others, \`details\` the first ${MAX_DETAILS} (more where an operation says so) as \`[{ field, message }]\`. \`details\` is left out if no field is at fault. Messages are for people and may change; codes do not.`,
  },
  {
    topic: 'Conditions',
    rule: 'Reads with a token carry an `ETag`. Sent back as `If-None-Match`, it gets 304 without a body as long as the answer is the same. Send the `ETag` of a single record as `If-Match` to change or delete it only in that state; otherwise the answer is 412 `precondition_failed`, and nothing changes.',
  },
  {
    topic: 'Compression',
    rule: `Answers of ${MIN_COMPRESSED / 1024} KiB and more are compressed with Brotli or gzip for clients that accept it.`,
  },
  {
    topic: 'Methods',
    rule: '`HEAD` works wherever `GET` does, and `OPTIONS` answers with the header `Allow`. Any other method that a path does not take is 405 `method_not_allowed` with `Allow`; an unknown path is 404 `not_found`.',
  },
];
