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
