import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** How an action's time depends on how much there is. */
export interface Growth {
  action: string;
  /** The median time in ms, by how much there is. */
  p50: readonly number[];
  /** The most to what is next to it: the median of the rounds. */
  ratio: number;
}

/** All that a run found. */
export interface ScaleReport {
  repeats: number;
  rounds: number;
  sizes: readonly number[];
  bySize: readonly Growth[];
  /** Insights of the most events to the list of plants, neither cached. */
  insightsToList: number;
  accounts: readonly number[];
  byAccounts: readonly Growth[];
  /** Events that 16 writers create in one account, a second. */
  contention: { oneProcess: number; twoProcesses: number };
  deletion: {
    events: number;
    /** Until the answer, and until its events are marked deleted, in ms. */
    answeredMs: number;
    finishedMs: number;
    /** Reads of other accounts before it and meanwhile, in ms. */
    p50Before: number;
    p50Meanwhile: number;
  };
}

/** Writes what was found to a folder. */
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
