import { isRecord, readJson, writeJson } from './json-file';
import { isProcessRef, type ProcessRef } from './processes';

/** What the data directory says of a server: the port and the version outlive the process. */
export interface Recorded {
  port: number;
  /** The version that last served the data. */
  version: string;
  process?: ProcessRef | undefined;
}

/** What is recorded of a server; undefined when it never ran here. */
export async function readRecord(path: string): Promise<Recorded | undefined> {
  const value = await readJson(path);
  if (!isRecord(value)) return undefined;
  const { port, version, process } = value;
  if (typeof port !== 'number' || typeof version !== 'string') return undefined;
  return { port, version, process: isProcessRef(process) ? process : undefined };
}

/** Records a server, in one step. */
export async function writeRecord(path: string, recorded: Recorded): Promise<void> {
  await writeJson(path, recorded);
}
