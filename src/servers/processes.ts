import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { codeOf, ServersError } from './errors';
import { isRecord } from './json-file';
import { until } from './wait';

/** A process, told apart from a later one that was given the same number. */
export interface ProcessRef {
  pid: number;
  started: string;
}

/** Whether a parsed value is a ProcessRef. */
export function isProcessRef(value: unknown): value is ProcessRef {
  return isRecord(value) && Number.isInteger(value['pid']) && typeof value['started'] === 'string';
}

// Start times count from the boot, so without the boot they could repeat after a restart.
let bootId: string | undefined;
function readBootId(): string {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return bootId;
}

function identifyByProc(pid: number): ProcessRef | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name in brackets may hold spaces and brackets itself: the fields begin after the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const startTime = fields[19];
  if (startTime === undefined || state === 'Z' || state === 'X') return undefined;
  return { pid, started: `${readBootId()}/${startTime}` };
}

function identifyByPs(pid: number): ProcessRef | undefined {
  try {
    const answer = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    const [state, ...started] = answer.split(/\s+/);
    if (state === undefined || state.startsWith('Z') || started.length === 0) return undefined;
    return { pid, started: started.join(' ') };
  } catch {
    return undefined;
  }
}

/** Who runs under this number now; undefined for nobody, and for a zombie. */
export function identify(pid: number): ProcessRef | undefined {
  return process.platform === 'linux' ? identifyByProc(pid) : identifyByPs(pid);
}

/** Whether that very process still runs. */
export function isAlive(ref: ProcessRef): boolean {
  return identify(ref.pid)?.started === ref.started;
}

/** This process. */
export function self(): ProcessRef {
  const me = identify(process.pid);
  if (me === undefined)
    throw new ServersError('This process cannot see itself in the process list.');
  return me;
}

/** Signals a process; one that is gone is left alone. */
export function signalProcess(ref: ProcessRef, signal: NodeJS.Signals): void {
  if (!isAlive(ref)) return;
  try {
    process.kill(ref.pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

/** Ends a process, by force when it does not go within `grace` milliseconds; resolves when it is gone. */
export async function stopProcess(ref: ProcessRef, grace: number): Promise<void> {
  const gone = (): boolean => !isAlive(ref);
  signalProcess(ref, 'SIGTERM');
  if (await until(gone, { within: grace })) return;
  signalProcess(ref, 'SIGKILL');
  if (await until(gone, { within: 10_000 })) return;
  throw new ServersError(`Process ${ref.pid} does not end, not even by SIGKILL.`);
}
