/**
 * The maximum length of a result, in UTF-16 code units, unless it is a single item: some clients show a
 * model no more.
 */
export const MAX_LENGTH = 12_000;

/**
 * The result of a write with the first `items`, as many as fit and at least one, and their full `count`; what
 * its other lists have in the same places. A result without items stays as it is.
 */
export function withFirstItems(written: Record<string, unknown>): Record<string, unknown> {
  const { items: all } = written;
  if (!Array.isArray(all)) return written;
  const lists = Object.entries(written).flatMap(([name, value]) =>
    Array.isArray(value) ? [{ name, items: value as unknown[] }] : [],
  );
  const shown = lists.map(({ name }) => [name, [] as unknown[]] as const);
  const result = { ...written, ...Object.fromEntries(shown), count: all.length };
  let left = MAX_LENGTH - JSON.stringify({ ...result, hasMore: false }).length;
  const rows = Math.max(...lists.map(({ items }) => items.length));
  for (let row = 0; row < rows; row += 1) {
    const items = lists.map((list) => list.items.slice(row, row + 1));
    left -= items.flat().reduce((sum: number, item) => sum + JSON.stringify(item).length + 1, 0);
    if (left < 0 && row > 0) return { ...result, hasMore: true };
    for (const [index, [, list]] of shown.entries()) list.push(...(items[index] ?? []));
  }
  return { ...result, hasMore: false };
}
