import { mongo } from 'mongoose';
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

/** The text of an id, in lower case. */
export function idText(id: StoredId): string {
  const hex = Buffer.isBuffer(id) ? id.toString('hex') : id.toHexString(false);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
