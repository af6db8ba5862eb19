/** Whether a value is an object, but not null or an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<readonly unknown[]> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** Items by key, in their order; Node 20 has no `Map.groupBy`. */
export function groupBy<K, T>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, [T, ...T[]]> {
  const groups = new Map<K, [T, ...T[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** JSON with the members of each object sorted by name, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    isRecord(each) ? sortMembers(each) : each,
  );
}

function sortMembers(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The message of a thrown value in one line, without a final period. */
export function reasonOf(thrown: unknown): string {
  // Not by class: Node's own errors have another one in a context, as under Jest.
  const text = isRecord(thrown) ? String(thrown['message']) : String(thrown);
  return text.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
}

/** The code of a system error (`ENOENT`) or of MongoDB's driver, if any. */
export function codeOf(thrown: unknown): unknown {
  return isRecord(thrown) ? thrown['code'] : undefined;
}

export function chunksOf<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < items.length; start += size) {
    chunks.push(items.slice(start, start + size));
  }
  return chunks;
}
