import { printable } from '../core/text/text';

/** Formats rows as a table with aligned columns; a cell may have several lines. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  gap = '  ',
): string {
  const lines = [headings.map((heading) => heading.toUpperCase()), ...rows.flatMap(linesOf)];
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  );
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)))
    .map((cells) => cells.join(gap).trimEnd())
    .join('\n');
}

function linesOf(row: readonly string[]): string[][] {
  const cells = row.map((cell) => cell.split('\n').map(printable));
  const height = Math.max(...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) => cells.map((cell) => cell[line] ?? ''));
}

/** Formats a count: `1 account`, `2 accounts`. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? singular : plural}`;
}
