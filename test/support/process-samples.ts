import { readdirSync, readFileSync } from 'node:fs';

/** What a process holds at a moment. */
export interface ProcessSample {
  /** Resident memory. */
  megabytes: number;
  descriptors: number;
}

/** By the operating system's account; Linux only. */
export function sampleOf(pid: number | undefined): ProcessSample {
  const folder = `/proc/${String(pid)}`;
  const status = readFileSync(`${folder}/status`, 'utf8');
  return {
    megabytes: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
    descriptors: readdirSync(`${folder}/fd`).length,
  };
}

/** The value below which a share of the values is: 0.5 for the median. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
