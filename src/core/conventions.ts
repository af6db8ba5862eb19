import { MIN_COMPRESSED } from './content';
import { MAX_DETAILS } from './errors';
import { hostSettings } from './host-settings';
import { DEFAULT_PAGE_SIZE, MAX_KEY_LENGTH, MAX_PAGE_SIZE } from './request-limits';

/** What holds for every request, for the OpenAPI document and the README. */
export const CONVENTIONS: readonly { topic: string; rule: string }[] = [
  {
    topic: 'Paging',
    rule: `A list that comes in pages has \`items\`, \`hasMore\` and \`nextCursor\`; send \`nextCursor\` back as \`cursor\` for the next page. \`limit\` is 1 to ${MAX_PAGE_SIZE}, and ${DEFAULT_PAGE_SIZE} when left out; a page may hold fewer while \`hasMore\` is true. An event that is there throughout is seen exactly once, whatever is logged meanwhile; one that is moved to another moment may be met at both. A cursor is opaque, and good for the list that gave it only; any other is a 400 \`invalid_cursor\`.`,
  },
  {
    topic: 'Retrying',
    rule: `Give every \`POST\` an \`Idempotency-Key\` of your own (1 to ${MAX_KEY_LENGTH} characters) and repeat it as often as the network needs: for ${hostSettings.idempotencyKeepHours.fallback / 24} days (\`${hostSettings.idempotencyKeepHours.name}\`) the first answer comes again, with \`Idempotent-Replayed: true\`, and there is one effect. After a 503 or a lost connection this is the only way to know that nothing is doubled. \`PATCH\` and \`DELETE\` may be repeated as they are: what is deleted already is a 404. Wait before each try: as long as \`Retry-After\` says, else twice as long as the time before.`,
  },
  {
    topic: 'Limits',
    rule: 'Each answer of an operation says what is left of its budget, which is counted by the minute, in `RateLimit` and `RateLimit-Policy`. A 429 `rate_limited` says in `Retry-After` how many seconds to wait; a 503 `service_unavailable` does too. How many records an account may have depends on its tier, and `GET /api/account` says how many there are.',
  },
  {
    topic: 'Types',
    rule: '`"7"` is not a number and `1` is not a boolean. `null` is taken only where a field is nullable. Fields and query parameters that are not known are refused, and so is a parameter that is given twice.',
  },
  {
    topic: 'Strings',
    rule: 'They are stored as sent, without trimming. Lengths are counted in UTF-16 code units, so that most emoji count as two. NUL and lone surrogates are refused.',
  },
  {
    topic: 'Date-times',
    rule: 'RFC 3339 with an offset (`2026-03-01T09:30:00+01:00`), kept to the millisecond. A date alone, a date that no calendar has, a leap second (`:60`) and an instant outside the years 0 to 9999 are refused.',
  },
  {
    topic: 'Ids',
    rule: "UUIDs, in either case. In a path, an id of another form, of nothing and of another account's record are answered with the same 404.",
  },
  {
    topic: 'Faults',
    rule: `A 400 \`validation_error\` names every fault of the body and the query at once: \`error\` the first one and how many more there are, \`details\` the first ${MAX_DETAILS} as \`[{ field, message }]\`, left out where no field is at fault. Messages are for people and may change; codes do not.`,
  },
  {
    topic: 'Conditions',
    rule: 'What a token reads carries an `ETag`: sent back as `If-None-Match` it is answered with 304, without a body, as long as the answer is the same. The `ETag` of a single record may be sent as `If-Match` with a change or deletion of it: where the record is in another state by then, the answer is 412 `precondition_failed` and nothing is changed.',
  },
  {
    topic: 'Compression',
    rule: `Answers of ${MIN_COMPRESSED / 1024} KiB and more are compressed with brotli or gzip for those who accept it.`,
  },
  {
    topic: 'Methods',
    rule: '`HEAD` is answered wherever `GET` is, and `OPTIONS` with the header `Allow`. Any other method that a path does not have is a 405 `method_not_allowed` with the header `Allow`; a path that is not here is a 404 `not_found`.',
  },
];
