import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';

/** A record of the API; what else it has is in the OpenAPI document. */
export type Item = Record<string, unknown> & { id: string };

/** A change that waits to be sent. */
export interface Write {
  /** Idempotency-Key of a POST; until it is sent also the id of what it makes. */
  key: string;
  method: 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: object;
  /** The ETag of what was changed, so that nothing is overwritten that is newer. */
  ifMatch?: string;
}

/** Care of a plant that is due on this day, whatever else says so, or that was skipped on one. */
export interface Snooze {
  plantId: string;
  type: string;
  scheduleId?: string;
  until: string | null;
  skippedOn?: string;
}

/** All that a device keeps. */
export interface State {
  cursor?: string;
  plants: Record<string, Item>;
  schedules: Record<string, Item>;
  events: Record<string, Item>;
  photos: Record<string, Item>;
  snoozes: Snooze[];
  queue: Write[];
  /** What the service refused, with the code of its error. */
  rejected: { write: Write; code: string }[];
}

/** Where a device keeps it, as JSON. A save replaces all at once: after a crash it is old or new. */
export interface Store {
  load(): Promise<string | undefined>;
  save(json: string): Promise<void>;
}

/** Keeps it as long as the program runs. */
export class MemoryStore implements Store {
  #json: string | undefined;
  load = async () => this.#json;
  save = async (json: string) => void (this.#json = json);
}

/** Keeps it in a file. */
export class FileStore implements Store {
  constructor(readonly file: string) {}

  load = () => (existsSync(this.file) ? readFile(this.file, 'utf8') : Promise.resolve(undefined));

  async save(json: string): Promise<void> {
    await writeFile(`${this.file}.new`, json, { flush: true });
    await rename(`${this.file}.new`, this.file);
  }
}
