import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './errors';
import { isRecord, writeJson } from './json-file';
import { isAlive, isProcessRef, self, type ProcessRef } from './processes';

export type Role = 'server' | 'tool';
export type ServerName = 'mongod' | 'redis';

/** A living program that uses servers of the data directory. */
export interface Holder extends ProcessRef {
  role: Role;
  uses: ServerName[];
}

function isHolder(value: unknown): value is Holder {
  return (
    isProcessRef(value) &&
    isRecord(value) &&
    (value['role'] === 'server' || value['role'] === 'tool') &&
    Array.isArray(value['uses'])
  );
}

/** Writes down that this program uses the servers; returns the file that says so. */
export async function addHolder(folder: string, role: Role, uses: ServerName[]): Promise<string> {
  const path = join(folder, `${process.pid}-${randomUUID()}.json`);
  const holder: Holder = { ...self(), role, uses };
  await writeJson(path, holder);
  return path;
}

/**
 * The living holders, but for the one of `except`; what dead ones left is removed. At once, because
 * it is asked for also while this process exits.
 */
export function livingHolders(folder: string, except?: string): Holder[] {
  const living: Holder[] = [];
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    if (path === except) continue;
    const holder = readHolder(path);
    if (holder !== undefined && isAlive(holder)) living.push(holder);
    else rmSync(path, { force: true });
  }
  return living;
}

function readHolder(path: string): Holder | undefined {
  try {
    const holder: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isHolder(holder) ? holder : undefined;
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch (error) {
    // The data directory was deleted: nobody is left in it.
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
