/**
 * The maximum length of a result, in UTF-16 code units, unless it is a single item: some clients show a
 * model no more.
 */
export const MAX_LENGTH = 12_000;

/**
 * The answer to a write with the first items of its lists, as many as fit and at least one, and their full
 * `count`. An answer without lists stays as it is.
 */
export function withFirstItems(answer: Record<string, unknown>): Record<string, unknown> {
  const lists = Object.entries(answer).flatMap(([name, value]) =>
    Array.isArray(value) ? [{ name, items: value as unknown[] }] : [],
  );
  const [main] = lists;
  if (!main) return answer;
  const shown = lists.map(({ name }) => [name, [] as unknown[]] as const);
  const result = { ...answer, ...Object.fromEntries(shown), count: main.items.length };
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
