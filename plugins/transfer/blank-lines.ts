import { yieldToEventLoop } from '../../src/core/async';

/** Pieces per turn of the event loop, which takes a few milliseconds. */
const TURN = 5000;

/**
 * A table whose lines of nothing but delimiters and spaces are empty, unless they are within quotes. The parser
 * skips empty lines, but would take milliseconds for a hundred of the others, of which spreadsheets write thousands.
 *
 * @param maxCells lines with more cells stay
 */
export async function withoutBlankLines(
  csv: string,
  delimiter: string,
  maxCells: number,
): Promise<string> {
  const space = `(?!\\${delimiter})[^\\S\\r\\n]`;
  const blank = `(?<![^\\r\\n])(?:(?:${space})*\\${delimiter}){0,${maxCells - 1}}(?:${space})*(?![^\\r\\n])`;
  const pieces = csv.matchAll(new RegExp(`"[^"]*"?|(${blank})|[^"\\r\\n]+|[\\r\\n]+`, 'g'));
  let kept = '';
  let from = 0;
  let count = 0;
  for (const { 1: found, index } of pieces) {
    count += 1;
    if (count % TURN === 0) await yieldToEventLoop();
    if (found === undefined) continue;
    kept += csv.slice(from, index);
    from = index + found.length;
  }
  return kept + csv.slice(from);
}
