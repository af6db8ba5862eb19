import { createHash } from 'node:crypto';

import Joi from 'joi';

import { isRecord, reasonOf } from '../../core/values';
import { BackupError } from './errors';

/** Incremented when older releases can no longer read new archives. */
export const FORMAT = 1;

/** Lists the other files of an archive. It is the last one, because it counts them. */
export const MANIFEST_FILE = 'manifest.json';

interface ArchivedCollection {
  name: string;
  documents: number;
  /** The total size of its BSON documents. */
  bytes: number;
  /** Of those bytes, in hexadecimal. */
  sha256: string;
}

export interface Manifest {
  format: number;
  /** The release that wrote it. */
  program: { name: string; version: string };
  mongodb: { version: string };
  /** The migrations that its data has been through. */
  migrations: string[];
  /** The time of the snapshot, as RFC 3339. */
  moment: string;
  collections: ArchivedCollection[];
}

const text = Joi.string().max(1000);
const count = Joi.number().integer().min(0).required();

const schema = Joi.object<Manifest>({
  format: Joi.valid(FORMAT).required(),
  program: Joi.object({
    name: text.required(),
    version: text.pattern(/^\d+\.\d+\.\d+/).required(),
  }).required(),
  mongodb: Joi.object({ version: text.required() }).required(),
  migrations: Joi.array().items(text).required(),
  moment: Joi.string().isoDate().required(),
  collections: Joi.array()
    .items({
      name: text.required(),
      documents: count,
      bytes: count,
      sha256: Joi.string().hex().length(64).required(),
    })
    .unique('name')
    .required(),
});

/** @throws BackupError if it is invalid, or of a newer format */
export function parseManifest(content: string): Manifest {
  try {
    const written: unknown = JSON.parse(content);
    if (isRecord(written) && typeof written['format'] === 'number' && written['format'] > FORMAT) {
      throw new BackupError('A newer release wrote this archive: use that release to read it.');
    }
    return Joi.attempt(written, schema, { convert: false });
  } catch (error) {
    if (error instanceof BackupError) throw error;
    throw new BackupError(
      `The archive is damaged: its manifest is not valid (${reasonOf(error)}).`,
    );
  }
}

export function documentsIn({ collections }: Manifest): number {
  return collections.reduce((sum, { documents }) => sum + documents, 0);
}

/** Counts and hashes the parts of a collection while they are written or read. */
export class Tally {
  parts = 0;
  #documents = 0;
  #bytes = 0;
  readonly #hash = createHash('sha256');

  constructor(readonly name: string) {}

  /** The name of the next part: `collections/NAME/000001.bson`. */
  get nextPart(): string {
    const number = String(this.parts + 1).padStart(6, '0');
    return `collections/${encodeURIComponent(this.name)}/${number}.bson`;
  }

  add(content: Buffer, documents: number): void {
    this.parts += 1;
    this.#documents += documents;
    this.#bytes += content.length;
    this.#hash.update(content);
  }

  /** The entry of the collection in the manifest. */
  get entry(): ArchivedCollection {
    const sha256 = this.#hash.copy().digest('hex');
    return { name: this.name, documents: this.#documents, bytes: this.#bytes, sha256 };
  }
}
