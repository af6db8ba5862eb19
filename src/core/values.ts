/** Whether a value is an object with named members: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value gives others one after the other. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** The message of whatever was thrown. */
export function reasonOf(thrown: unknown): string {
  // By its shape: errors of Node's own are of another class where code runs in a context of its own.
  return isRecord(thrown) && typeof thrown['message'] === 'string'
    ? thrown['message']
    : String(thrown);
}

/** The code of a system error (`ENOENT`) or of MongoDB's driver; undefined where there is none. */
export function codeOf(thrown: unknown): unknown {
  return isRecord(thrown) ? thrown['code'] : undefined;
}
