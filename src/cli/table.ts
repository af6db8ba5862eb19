/** Rows under their headings, each column as wide as what is in it. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  gap = '  ',
): string {
  const lines = [headings.map((heading) => heading.toUpperCase()), ...rows];
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  );
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)))
    .map((cells) => cells.join(gap).trimEnd())
    .join('\n');
}

/** A number of things: `1 account`, `2 accounts`. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? singular : plural}`;
}
