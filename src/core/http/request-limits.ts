export const MAX_BODY_KIB = 100;

/** The maximum length of an Idempotency-Key, in characters. */
export const MAX_KEY_LENGTH = 255;

/** The delay of a refusal, which slows down clients that retry at once. */
export const REFUSAL_MS = 200;

/** The maximum and default number of records in a page. */
export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = 15;
