import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** How the time of an action depends on the amount of data. */
export interface Growth {
  action: string;
  /** The median time in ms, by the amount of data. */
  p50: readonly number[];
  /** The largest amount relative to the one below: the median of the rounds. */
  ratio: number;
}

/** The results of a run. */
export interface ScaleReport {
  repeats: number;
  rounds: number;
  sizes: readonly number[];
  bySize: readonly Growth[];
  /** The time of insights of the most events relative to the list of plants, both uncached. */
  insightsToList: number;
  accounts: readonly number[];
  byAccounts: readonly Growth[];
  /** Events per second that 16 writers create in one account. */
  contention: { oneProcess: number; twoProcesses: number };
  deletion: {
    events: number;
    /** Until the response, and until its events are marked as deleted, in ms. */
    answeredMs: number;
    finishedMs: number;
    /** Reads of other accounts before and during it, in ms. */
    p50Before: number;
    p50Meanwhile: number;
  };
}

/** Writes the results to a folder. */
export function writeScaleReport(folder: string, report: ScaleReport): void {
  mkdirSync(folder, { recursive: true });
  const file = path.format({ dir: folder, name: 'performance-scale', ext: 'md' });
  writeFileSync(file, markdown(report));
}

function markdown(report: ScaleReport): string {
  const { repeats, rounds, contention, deletion } = report;
  return `# How it grows

\`make bench-scale\` wrote this page. Times are medians in ms of requests that are sent one after the
other, ${rounds} rounds of ${repeats}, in which all sizes take turns, to a server whose answer cache is off.
The ratio is that of the largest to the one before it.

## Events of an account

${table(report.sizes, report.bySize, 'events')}

Insights of ${numberOf(report.sizes.at(-1) ?? 0)} events take ${report.insightsToList.toFixed(1)} times as long as the list of plants.

## Accounts of a server

${table(report.accounts, report.byAccounts, 'accounts')}

## Sixteen writers on one account

Through one process they create ${Math.round(contention.oneProcess)} events a second; through two, which meet each other as
write conflicts, ${Math.round(contention.twoProcesses)}.

## A plant with many events is deleted

A plant with ${numberOf(deletion.events)} events is deleted in ${deletion.answeredMs.toFixed(0)} ms; its events are marked deleted
${(deletion.finishedMs / 1000).toFixed(1)} s later. Meanwhile another account reads a page of events in ${deletion.p50Meanwhile.toFixed(1)} ms,
before it in ${deletion.p50Before.toFixed(1)} ms.
`;
}

function table(sizes: readonly number[], rows: readonly Growth[], of: string): string {
  const heads = ['', ...sizes.map((size) => `${numberOf(size)} ${of}`), 'ratio'];
  const body = rows.map(({ action, p50, ratio }) => [
    action,
    ...p50.map((ms) => ms.toFixed(2)),
    ratio.toFixed(2),
  ]);
  return [heads, heads.map(() => '---'), ...body]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function numberOf(count: number): string {
  return count.toLocaleString('en');
}
