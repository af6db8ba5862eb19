import { type Options, stringify } from 'csv-stringify/sync';

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

/** How values are written; empty cells are those of `null` and `undefined`. */
const CAST = {
  string: guarded,
  boolean: String,
  date: (value: Date) => value.toISOString(),
};

/** Rows, or objects with the fields in `columns`, as CSV (RFC 4180). */
export function csvOf(rows: object[], options: Options = {}): string {
  return stringify(rows, {
    // `escape_formulas` adds no quote before `'=`, which an import would then take for a guarded `=`.
    cast: CAST,
    record_delimiter: '\r\n',
    quote_record_delimiter: true,
    // An import trims cells without quotes.
    quoted_match: /^\s|\s$/,
    ...options,
  });
}
