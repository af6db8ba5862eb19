import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';

import { CONNECTIONS } from './load';

/** The measurements of a contender. */
export interface Figures {
  /** Requests per second relative to the program without a framework: the median of all rounds. */
  ratio: number;
  lowest: number;
  highest: number;
  perSecond: number;
  /** CPU time of the server per request. */
  cpuMicroseconds: number;
  /** Times of a request in ms. */
  p50: number;
  p99: number;
}

export interface Row extends Figures {
  subject: string;
  contender: string;
  isPeer: boolean;
}

/** The results of a run. */
export interface Report {
  seconds: number;
  rounds: number;
  rows: readonly Row[];
  /** Resident memory at the end. */
  memory: readonly { name: string; megabytes: number }[];
}

/** Writes the results to a folder, as text, data and a chart. */
export function writeReport(folder: string, report: Report): void {
  mkdirSync(folder, { recursive: true });
  const write = (ending: string, text: string): void => {
    writeFileSync(path.join(folder, `performance.${ending}`), text);
  };
  write('md', markdown(report));
  write('json', `${JSON.stringify(report, undefined, 2)}\n`);
  write('svg', picture(report.rows));
}

function markdown({ seconds, rounds, rows, memory }: Report): string {
  const body = rows.map((row) =>
    [
      row.subject,
      row.contender,
      row.ratio.toFixed(2),
      `${row.lowest.toFixed(2)} to ${row.highest.toFixed(2)}`,
      Math.round(row.perSecond),
      Math.round(row.cpuMicroseconds),
      row.p50.toFixed(1),
      row.p99.toFixed(1),
    ].join(' | '),
  );
  return `# How fast it is

\`make bench\` wrote this page; docs/performance.md says what it compares. Ratios are requests a second
to those of bare, medians of ${rounds} rounds of ${seconds} s in which all take turns, over
${CONNECTIONS} connections, on ${cpus().length} processors that the load shares. A tenth of the rounds lies below the
spread and a tenth above.

![Requests a second, as a ratio to a program without a framework](performance.svg)

| what | who | ratio | spread | a second | CPU µs | p50 ms | p99 ms |
| --- | --- | --- | --- | --- | --- | --- | --- |
${body.map((row) => `| ${row} |`).join('\n')}

## Memory after all of it

| who | MB |
| --- | --- |
${memory.map(({ name, megabytes }) => `| ${name} | ${Math.round(megabytes)} |`).join('\n')}
`;
}

const LINE = 20;
const LEFT = 400;
const RIGHT = 60;
const WIDTH = 960;

/** Bars on a logarithmic scale, with a line at the program without a framework. */
function picture(rows: readonly Row[]): string {
  const shown = rows.filter(({ contender }) => contender !== 'bare');
  const logs = shown.map(({ ratio }) => Math.log2(ratio));
  const [low, high] = [Math.floor(Math.min(-1, ...logs)), Math.ceil(Math.max(1, ...logs))];
  const x = (log: number): number =>
    Math.round(LEFT + ((log - low) / (high - low)) * (WIDTH - LEFT - RIGHT));
  const bars = shown.map((row, index) => {
    const at = LINE * (index + 2);
    const [from, to] = [x(0), x(Math.log2(row.ratio))];
    const label = escape(`${row.subject}: ${row.contender}`);
    const fill = row.isPeer ? '#9aa5b1' : '#2f7d4f';
    return [
      `<text x="${LEFT - 8}" y="${at + 12}" text-anchor="end">${label}</text>`,
      `<rect x="${Math.min(from, to)}" y="${at}" width="${Math.abs(to - from)}" height="14" fill="${fill}"/>`,
      `<text x="${Math.max(from, to) + 6}" y="${at + 12}">${row.ratio.toFixed(2)}</text>`,
    ].join('\n');
  });
  const height = LINE * (shown.length + 3);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
<text x="${x(0)}" y="20" text-anchor="middle">bare = 1</text>
<line x1="${x(0)}" x2="${x(0)}" y1="28" y2="${height - LINE}" stroke="#52606d"/>
${bars.join('\n')}
</svg>
`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
