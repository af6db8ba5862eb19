/** What spreadsheets may take for a formula, perhaps with quotes before it. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/u;

/** A cell that a spreadsheet shows and does not compute: with a quote in front, as it would be typed. */
export function guarded(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

/** The cell that {@link guarded} was given. */
export function unguarded(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}
