import { createHash } from 'node:crypto';

import Joi from 'joi';

import { isRecord, reasonOf } from '../../core/values';
import { BackupError } from './errors';

/** Moves when a program of before could no longer read what is written now. */
export const FORMAT = 1;

/** The file of an archive that says what is in the others. It is the last one, since it counts them. */
export const MANIFEST_FILE = 'manifest.json';

/** A collection in an archive. */
export interface ArchivedCollection {
  name: string;
  documents: number;
  /** The size of its documents as BSON, one after the other. */
  bytes: number;
  /** Of those bytes, in hexadecimal digits. */
  sha256: string;
}

/** What an archive says of itself. */
export interface Manifest {
  format: number;
  /** The release that wrote it. */
  program: { name: string; version: string };
  mongodb: { version: string };
  /** The migrations that its data has passed. */
  migrations: string[];
  /** The one moment whose data is in it, as RFC 3339. */
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

/** @throws BackupError where it is none that this release can read */
export function parseManifest(content: string): Manifest {
  try {
    const written: unknown = JSON.parse(content);
    if (isRecord(written) && typeof written['format'] === 'number' && written['format'] > FORMAT) {
      throw new BackupError(
        'The archive was written by a newer release of the program: use that one to read it.',
      );
    }
    return Joi.attempt(written, schema, { convert: false });
  } catch (error) {
    if (error instanceof BackupError) throw error;
    throw new BackupError(`The archive is damaged: its manifest is not one (${reasonOf(error)}).`);
  }
}

/** Returns how many documents an archive has. */
export function documentsIn({ collections }: Manifest): number {
  return collections.reduce((sum, { documents }) => sum + documents, 0);
}

/** Counts and hashes the parts of a collection, as they are written to an archive or read from it. */
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

  /** What the manifest says of it. */
  get entry(): ArchivedCollection {
    const sha256 = this.#hash.copy().digest('hex');
    return { name: this.name, documents: this.#documents, bytes: this.#bytes, sha256 };
  }
}
