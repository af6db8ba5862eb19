/** Cells that spreadsheets may take for a formula, with any quotes in front. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/u;

/** A cell that a spreadsheet shows instead of computing it: with a quote in front, as one would type it. */
function guarded(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

/** A cell before it was guarded. */
export function unguarded(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/** Cells as a line of CSV (RFC 4180), without its end. */
export function csvLine(cells: readonly string[]): string {
  return cells
    .map(guarded)
    .map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(',');
}
