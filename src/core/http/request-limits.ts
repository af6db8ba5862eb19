export const MAX_BODY_KIB = 100;
/** The maximum number of values in a body, counting those within others. */
export const MAX_BODY_VALUES = 200_000;
/** The maximum number of parameters of a query: more than any operation or endpoint takes. */
export const MAX_QUERY_PARAMETERS = 50;

/** The maximum length of an Idempotency-Key, in characters. */
export const MAX_KEY_LENGTH = 255;

/** The delay of a refusal, which slows down clients that retry at once. */
export const REFUSAL_MS = 200;

/** The maximum and default number of records in a page. */
export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = 15;
/** The default of tools. */
export const TOOL_PAGE_SIZE = 25;
