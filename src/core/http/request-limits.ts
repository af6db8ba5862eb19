/** How large the body of a request may be, in KiB. */
export const MAX_BODY_KIB = 100;

/** How long an Idempotency-Key may be, in characters. */
export const MAX_KEY_LENGTH = 255;

/** How long a refusal waits, so that who calls on regardless does not do so at full speed. */
export const REFUSAL_MS = 200;

/** How many records a page may have, and has where its `limit` is left out. */
export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = 15;
