/** Whether a value is an object with named members: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value gives others one after the other. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<readonly unknown[]> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** JSON with the members of each object in the order of their names: equal values are equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    isRecord(each) ? sortMembers(each) : each,
  );
}

/** The same members in the order of their names. */
export function sortMembers(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The message of a thrown value in one line, to be put into a sentence. */
export function reasonOf(thrown: unknown): string {
  // By its shape: errors of Node's own are of another class where code runs in a context of its own.
  const text = isRecord(thrown) ? String(thrown['message']) : String(thrown);
  return text.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
}

/** The code of a system error (`ENOENT`) or of MongoDB's driver; undefined where there is none. */
export function codeOf(thrown: unknown): unknown {
  return isRecord(thrown) ? thrown['code'] : undefined;
}

/** Items in their order, in groups of so many; the last may be smaller, and none is empty. */
export function chunksOf<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < items.length; start += size) {
    chunks.push(items.slice(start, start + size));
  }
  return chunks;
}
