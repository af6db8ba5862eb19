import { table } from '../../src/cli/table';

/** A figure of a long test, with its limit. */
export interface Finding {
  what: string;
  found: string;
  allowed: string;
  isGood: boolean;
}

/** A figure with a maximum. */
export function atMost(what: string, found: number, allowed: number, unit = ''): Finding {
  const isGood = found <= allowed;
  return { what, found: text(found, unit), allowed: `at most ${text(allowed, unit)}`, isGood };
}

/** A figure with a minimum. */
export function atLeast(what: string, found: number, wanted: number, unit = ''): Finding {
  const isGood = found >= wanted;
  return { what, found: text(found, unit), allowed: `at least ${text(wanted, unit)}`, isGood };
}

function text(value: number, unit: string): string {
  return `${Number(value.toFixed(1))} ${unit}`.trim();
}

/** Events that must not happen; the first of them are printed. */
export function none(what: string, faults: readonly string[]): Finding {
  for (const fault of faults.slice(0, 20)) console.error(fault);
  return atMost(what, faults.length, 0);
}

/** Prints all findings as a table; sets exit code 1 if one is not good. */
export function report(findings: readonly Finding[]): void {
  const rows = findings.map(({ what, found, allowed, isGood }) => [
    what,
    found,
    allowed,
    isGood ? 'good' : 'FAILED',
  ]);
  console.log(table(['figure', 'found', 'allowed', ''], rows));
  if (findings.some(({ isGood }) => !isGood)) process.exitCode = 1;
}
