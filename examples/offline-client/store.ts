import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';

/** A record of the API; the OpenAPI document has its other fields. */
export type Item = Record<string, unknown> & { id: string };

/** A queued change. */
export interface Write {
  /** The Idempotency-Key of a POST and, until it is sent, the id of the record that it creates. */
  key: string;
  method: 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: object;
  /** The ETag of the changed record, so that newer data is not overwritten. */
  ifMatch?: string;
}

/** Care that was put off until a day, or skipped on one. */
export interface Snooze {
  plantId: string;
  type: string;
  scheduleId?: string;
  until: string | null;
  skippedOn?: string;
}

/** Everything that a device stores. */
export interface State {
  cursor?: string;
  plants: Record<string, Item>;
  schedules: Record<string, Item>;
  events: Record<string, Item>;
  photos: Record<string, Item>;
  snoozes: Snooze[];
  queue: Write[];
  /** Changes that the service rejected, with the error code. */
  rejected: { write: Write; code: string }[];
}

/** Stores the state as JSON. A save is atomic: after a crash the state is either old or new. */
export interface Store {
  load(): Promise<string | undefined>;
  save(json: string): Promise<void>;
}

/** Keeps the state in memory. */
export class MemoryStore implements Store {
  #json: string | undefined;
  load = async () => this.#json;
  save = async (json: string) => void (this.#json = json);
}

/** Keeps the state in a file. */
export class FileStore implements Store {
  constructor(readonly file: string) {}

  load = () => (existsSync(this.file) ? readFile(this.file, 'utf8') : Promise.resolve(undefined));

  async save(json: string): Promise<void> {
    await writeFile(`${this.file}.new`, json, { flush: true });
    await rename(`${this.file}.new`, this.file);
  }
}
