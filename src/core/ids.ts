import { mongo } from 'mongoose';
import { v7 } from 'uuid';

/**
 * An id as MongoDB keeps it. Written as a BSON UUID; read back as one, or as a bare Buffer where
 * the read asked for `promoteBuffers`, which costs a fraction of the time.
 */
export type StoredId = mongo.UUID | Buffer;

/** The text form of a UUID of any version, in either case, as part of a pattern. */
export const UUID_FORM = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

export const UUID_PATTERN = `^${UUID_FORM}$`;

const UUID_TEXT = new RegExp(UUID_PATTERN);

/** Whether a string is the text form of a UUID of any version. */
export function isUuid(text: string): boolean {
  return UUID_TEXT.test(text);
}

/** A new id: UUID version 7, so that ids made later sort later. */
export function newId(): mongo.UUID {
  return new mongo.UUID(v7());
}

/** The stored form of an id that {@link isUuid} accepts. */
export function toStoredId(text: string): mongo.UUID {
  return new mongo.UUID(text);
}

/** An id that was read, in the form in which it can be asked for. */
export function asUuid(id: StoredId): mongo.UUID {
  return Buffer.isBuffer(id) ? new mongo.UUID(id) : id;
}

/** Any of some ids, in a filter. */
export function anyOf(ids: readonly StoredId[]): { $in: mongo.UUID[] } {
  return { $in: ids.map(asUuid) };
}

/** The text form of an id, in lower case. */
export function idText(id: StoredId): string {
  const hex = Buffer.isBuffer(id) ? id.toString('hex') : id.toHexString(false);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
