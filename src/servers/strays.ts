import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { identify, type ProcessRef } from './processes';

// The kernel cuts names of processes off here.
const COMM_LENGTH = 15;

/**
 * Servers that work in a folder though nothing on disk records them: their program was killed between
 * the start and the note of it, or the data directory was deleted under them. Linux only.
 */
export async function findStrays(home: string, program: string): Promise<ProcessRef[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const found = await Promise.all(pids.map(async (pid) => strayOf(Number(pid), home, program)));
  return found.filter((ref) => ref !== undefined);
}

async function strayOf(
  pid: number,
  home: string,
  program: string,
): Promise<ProcessRef | undefined> {
  try {
    const folder = await readlink(`/proc/${pid}/cwd`);
    if (folder !== home && folder !== `${home} (deleted)`) return undefined;
    const name = (await readFile(`/proc/${pid}/comm`, 'utf8')).trim();
    if (name !== basename(program).slice(0, COMM_LENGTH)) return undefined;
    // In a deleted folder it may belong to a program that still runs; only an orphan is nobody's.
    if (folder !== home && !(await isOrphan(pid))) return undefined;
    return identify(pid);
  } catch {
    // It ended meanwhile, or it is another user's, and then not ours.
    return undefined;
  }
}

async function isOrphan(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return /^PPid:\s*1$/m.test(status);
}
