import { readdirSync, readFileSync } from 'node:fs';

/** The resources of a process. */
export interface ProcessSample {
  /** Resident memory. */
  megabytes: number;
  descriptors: number;
}

/** Reads /proc, so only on Linux. */
export function sampleOf(pid: number | undefined): ProcessSample {
  const folder = `/proc/${String(pid)}`;
  const status = readFileSync(`${folder}/status`, 'utf8');
  return {
    megabytes: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
    descriptors: readdirSync(`${folder}/fd`).length,
  };
}
