import { mongo } from 'mongoose';

import { isRecord } from '../../src/core/values';

/** A command as it is sent to MongoDB. */
export interface MongodbCommand {
  name: string;
  /** The collection, if the command has one. */
  collection: string | undefined;
  /** The session, in hexadecimal. */
  session: string | undefined;
  inTransaction: boolean;
  bytes: Buffer;
}

// The wire protocol's OP_MSG: a header, flags, and a document whose first key is the command.
const OP_MSG = 2013;
const OPCODE_AT = 12;
const DOCUMENT_AT = 21;

/** The command in a chunk that a driver sent, if there is one. */
export function commandOf(bytes: Buffer): MongodbCommand | undefined {
  if (bytes.length < DOCUMENT_AT + 4 || bytes.readInt32LE(OPCODE_AT) !== OP_MSG) return undefined;
  const length = bytes.readInt32LE(DOCUMENT_AT);
  if (length > bytes.length - DOCUMENT_AT) return undefined;
  const document = mongo.BSON.deserialize(bytes.subarray(DOCUMENT_AT, DOCUMENT_AT + length));
  const [name = ''] = Object.keys(document);
  const collection: unknown = document[name];
  // As in the protocol.
  const { lsid, autocommit } = document as { lsid?: { id: mongo.UUID }; autocommit?: boolean };
  return {
    name,
    collection: typeof collection === 'string' ? collection : undefined,
    inTransaction: autocommit === false,
    session: lsid && Buffer.from(lsid.id.buffer).toString('hex'),
    bytes,
  };
}

// Sections after the first: a kind, a length, a name, and documents up to that length.
const SEQUENCE = 1;

/** The filters of a command on a collection, or the documents that it inserts. */
export function filtersOf({ name, bytes }: MongodbCommand): Record<string, unknown>[] {
  const body = documentAt(bytes, DOCUMENT_AT);
  const all = [...listOf(body['updates']), ...listOf(body['deletes']), ...sequenceOf(bytes)];
  if (name === 'insert') return [...listOf(body['documents']), ...all];
  if (all.length > 0) return all.map(({ q }) => asRecord(q));
  const [first] = listOf(body['pipeline']);
  return [asRecord(body['filter'] ?? body['query'] ?? first?.['$match'])];
}

function sequenceOf(bytes: Buffer): Record<string, unknown>[] {
  const start = DOCUMENT_AT + bytes.readInt32LE(DOCUMENT_AT);
  if (bytes[start] !== SEQUENCE) return [];
  const end = start + 1 + bytes.readInt32LE(start + 1);
  const documents = [];
  let at = bytes.indexOf(0, start + 5) + 1;
  while (at < end) {
    documents.push(documentAt(bytes, at));
    at += bytes.readInt32LE(at);
  }
  return documents;
}

function documentAt(bytes: Buffer, at: number): Record<string, unknown> {
  return mongo.BSON.deserialize(bytes.subarray(at, at + bytes.readInt32LE(at)));
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(asRecord) : [];
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
