import { createHash } from 'node:crypto';

import mongoose, { mongo } from 'mongoose';
import { v7 } from 'uuid';

/**
 * A stored id. It is written as a BSON UUID, and read as one, or as a Buffer with `promoteBuffers`,
 * which takes a fraction of the time.
 */
export type StoredId = mongo.UUID | Buffer;

/** A pattern for UUIDs of any version, in either case. */
export const UUID_FORM = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

export const UUID_PATTERN = `^${UUID_FORM}$`;

const UUID_TEXT = new RegExp(UUID_PATTERN);

export function isUuid(text: string): boolean {
  return UUID_TEXT.test(text);
}

/** A new id: a UUID of version 7, which sorts by time. */
export function newId(): mongo.UUID {
  return new mongo.UUID(v7());
}

/** How many bytes of an id of `newId` determine its order; the rest is random. */
const ORDERED_BYTES = 11;

/**
 * The id of the copy of a record: always the same within a scope, such as an account, and in the order of the
 * originals.
 */
export function copyId(original: string, scope: string): mongo.UUID {
  const { buffer } = toStoredId(original);
  const bytes = Buffer.from(buffer);
  createHash('sha256').update(`${scope} `).update(buffer).digest().copy(bytes, ORDERED_BYTES);
  return new mongo.UUID(bytes);
}

/** The stored form of a valid id. */
export function toStoredId(text: string): mongo.UUID {
  return new mongo.UUID(text);
}

/** An id that was read, in the form for filters. */
export function asUuid(id: StoredId): mongo.UUID {
  return Buffer.isBuffer(id) ? new mongo.UUID(id) : id;
}

/** A filter for any of some ids. */
export function anyOf(ids: readonly StoredId[]): { $in: mongo.UUID[] } {
  return { $in: ids.map(asUuid) };
}

const DIGITS = Buffer.from('0123456789abcdef');
/** Where the digits of each byte are in the text of an id. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const scratch = Buffer.alloc(36, '-');

/** The text of an id, in lower case. Strings put together from parts would take three times as long. */
export function idText(id: StoredId): string {
  const bytes = Buffer.isBuffer(id) ? id : id.buffer;
  PLACES.forEach((place, index) => {
    const byte = bytes[index] ?? 0;
    scratch[place] = DIGITS[byte >> 4] ?? 0;
    scratch[place + 1] = DIGITS[byte & 15] ?? 0;
  });
  return scratch.toString('latin1');
}

/** The Mongoose type of ids. That of Mongoose refuses Buffers and comparisons. */
export class IdType extends mongoose.SchemaType {
  readonly #one = (value: unknown): unknown => this.cast(value);
  override $conditionalHandlers = {
    ...mongoose.SchemaType.prototype.$conditionalHandlers,
    $gt: this.#one,
    $gte: this.#one,
    $lt: this.#one,
    $lte: this.#one,
  };

  constructor(path: string, options: object) {
    super(path, options, IdType.name);
  }

  override cast(value: unknown): unknown {
    if (value === null || value instanceof mongo.UUID) return value;
    if (typeof value === 'string' || Buffer.isBuffer(value)) return new mongo.UUID(value);
    throw new TypeError('An id must be a UUID.');
  }
}

// Schemas find types by name.
Object.assign(mongoose.Schema.Types, { IdType });
