import { Readable } from 'node:stream';

import { CsvError, parse } from 'csv-parse';

import { yieldToEventLoop } from '../../src/core/async';
import type { Account } from '../../src/core/identity';
import { unguarded } from '../../src/core/text/csv';
import { startOfDay } from '../../src/core/time';
import { descriptionOf } from '../../src/fields/description';
import { isDay } from '../../src/fields/joi';
import type { ValidationErrors } from '../../src/fields/validation';
import { withoutBlankLines } from './blank-lines';
import { lastCare, ROW_FIELDS, rowFields, type Table } from './schema';
import { truthOf } from './truth';

/** A record of a table, with its fields as text and the line on which it begins. */
interface Row {
  line: number;
  fields: Record<string, string>;
}

/** The maximum number of columns, and of cells of a row. */
const MAX_COLUMNS = 100;
/** Longer headings than any that are wanted, in UTF-16 code units. */
const MAX_HEADINGS = 64 * 1024;

/** Bytes read per turn of the event loop: rows shorter than the headings take the parser 50 µs each. */
const TURN = 1024;

const DELIMITERS = [',', ';', '\t'];
const MOMENTS: ReadonlySet<string> = new Set(['createdAt', 'archivedAt']);
const DAYS: ReadonlySet<string> = new Set(Object.keys(lastCare));
const BOOLEANS: ReadonlySet<string> = new Set(
  [...descriptionOf(rowFields).keys].flatMap(([field, { type }]) =>
    type === 'boolean' ? field : [],
  ),
);

const TOO_WIDE = `must have at most ${MAX_COLUMNS} columns`;

/** A record of csv-parse. */
interface Parsed {
  record: string[];
  info: { lines: number; empty_lines: number };
}

/**
 * The rows of a table without their empty cells. Faults of the table itself are added to `errors`.
 */
export async function* rowsOf(
  csv: string,
  { columns, delimiter = delimiterOf(csv), dates }: Omit<Table, 'csv'>,
  errors: ValidationErrors,
  { timezone, language }: Pick<Account, 'timezone' | 'language'>,
): AsyncGenerator<Row> {
  /** A cell as the schema of the field reads it; undefined if it has not the form of dates. */
  const read = (field: string, cell: string): string | undefined => {
    if (BOOLEANS.has(field)) return truthOf(cell.trim(), language) ?? cell;
    if (!MOMENTS.has(field) && !DAYS.has(field)) return unguarded(cell);
    const day = dayOf(cell.trim(), dates);
    if (day === undefined) return dates === undefined ? cell : undefined;
    return DAYS.has(field) ? day : startOfDay(day, timezone).toISOString();
  };
  const lines = await withoutBlankLines(csv, delimiter, MAX_COLUMNS);
  const parser = Readable.from(slices(Buffer.from(lines))).pipe(
    parse({
      bom: true,
      delimiter,
      // The rest of a row that is too wide is one cell.
      ignore_last_delimiters: MAX_COLUMNS + 1,
      info: true,
      // To find out which one the table uses, it would copy what it has read for each slice of the first line.
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      // It also removes white space around quotes; within them, it is meant.
      trim: true,
      cast: (cell, { quoting }) => (quoting ? cell : cell.trim()),
    }),
  );
  let columnFields: string[][] | undefined;
  let before = { lines: 0, empty_lines: 0 };
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      const line = before.lines + info.empty_lines - before.empty_lines + 1;
      const at = errors.at({ line });
      before = info;
      if (record.length > MAX_COLUMNS) {
        at.add('csv', TOO_WIDE);
        return;
      }
      if (!columnFields) {
        columnFields = fieldsOf(record, columns, at);
        if (columnFields) continue;
        return;
      }
      const fields: Record<string, string> = {};
      for (const [index, cell] of record.entries()) {
        if (cell === '') continue;
        if (index >= columnFields.length) at.add('csv', 'has more cells here than headings');
        for (const field of columnFields[index] ?? []) {
          const value = read(field, cell);
          if (value === undefined) at.add(field, `must be a date in the form ${dates}`);
          fields[field] = value ?? cell;
        }
      }
      yield { line, fields };
    }
    if (!columnFields) errors.add('csv', 'has only empty lines');
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Only the message of the error says where the quote is.
    const line = Number(/ at line (\d+)/.exec(error.message)?.[1] ?? before.lines);
    errors.at({ line }).add('csv', whyNotRead(error));
  }
}

function whyNotRead({ code, column }: CsvError): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'ends within quotes';
  // A quote in the rest of a row that is too wide.
  return column === MAX_COLUMNS ? TOO_WIDE : 'has a misplaced quote';
}

/** The fields that each column is for; undefined if the headings are at fault. */
function fieldsOf(
  headings: readonly string[],
  columns: Table['columns'],
  errors: ValidationErrors,
): string[][] | undefined {
  const names = headings.map((each) => each.trim());
  const unknown = columns ? [] : names.filter((name) => name && !ROW_FIELDS.includes(name));
  for (const name of unknown) errors.add(name, 'is not a field of plants');
  const wanted = Object.entries(columns ?? {}).map(
    ([field, name]) => [field, name.trim()] as const,
  );
  const missing = wanted.filter(([, name]) => !names.includes(name));
  for (const [field] of missing)
    errors.add(`columns.${field}`, 'names a column that does not exist');
  if (unknown.length + missing.length > 0) return undefined;
  const fields = names.map((name) =>
    columns
      ? wanted.flatMap(([field, heading]) => (heading === name ? field : []))
      : [name].filter(Boolean),
  );
  const known = new Set<string>();
  for (const field of fields.flat()) {
    if (known.has(field)) errors.add(field, 'has two columns');
    known.add(field);
  }
  if (!known.has('name')) errors.add('name', 'has no column');
  return errors.count === 0 ? fields : undefined;
}

/** The delimiter that is most frequent in the headings, outside of quotes, or else in empty lines. */
function delimiterOf(csv: string): string {
  const unquoted = csv
    // It has no headings.
    .replace(/^[\s,;]*[\r\n]/, '')
    .slice(0, MAX_HEADINGS)
    .replace(/"(?:[^"]|"")*"/g, '');
  const [first] = unquoted.split(/[\r\n]/, 1);
  const count = (delimiter: string): number => (first || csv).split(delimiter).length;
  return DELIMITERS.reduce((best, each) => (count(each) > count(best) ? each : best));
}

/** The day in a cell; undefined unless the cell is a day in that form. */
function dayOf(cell: string, form = 'yyyy-mm-dd'): string | undefined {
  const [letters = [], digits = []] = [form, cell].map((text) => text.split(/[./ -]/, 4));
  const part = (letter: string): string =>
    digits[letters.findIndex((each) => each.toLowerCase().startsWith(letter))] ?? '';
  const century = /(?<!y)yy(?!y)/i.test(form) && /^\d\d$/.test(part('y')) ? '20' : '';
  const day = `${century}${part('y')}-${part('m').padStart(2, '0')}-${part('d').padStart(2, '0')}`;
  return digits.length === 3 && isDay(day) ? day : undefined;
}

async function* slices(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += TURN) {
    await yieldToEventLoop();
    yield bytes.subarray(start, start + TURN);
  }
}
