/** Cells that spreadsheets may take for a formula, with any quotes in front. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/u;

/** A cell that a spreadsheet shows instead of computing it: with a quote in front, as one would type it. */
export function guarded(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

/** The cell before {@link guarded}. */
export function unguarded(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}
