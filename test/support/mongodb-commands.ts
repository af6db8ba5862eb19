import { mongo } from 'mongoose';

/** A command as it is sent to MongoDB. */
export interface MongodbCommand {
  name: string;
  /** The collection that it is about; undefined for those that are about none. */
  collection: string | undefined;
  /** The session that it belongs to, in hexadecimal. */
  session: string | undefined;
  inTransaction: boolean;
  bytes: Buffer;
}

// The wire protocol's OP_MSG: a header, flags, and a document whose first key is the command.
const OP_MSG = 2013;
const OPCODE_AT = 12;
const DOCUMENT_AT = 21;

/** The command in what a driver sent at once; undefined where there is none. */
export function commandOf(bytes: Buffer): MongodbCommand | undefined {
  if (bytes.length < DOCUMENT_AT + 4 || bytes.readInt32LE(OPCODE_AT) !== OP_MSG) return undefined;
  const length = bytes.readInt32LE(DOCUMENT_AT);
  if (length > bytes.length - DOCUMENT_AT) return undefined;
  const document = mongo.BSON.deserialize(bytes.subarray(DOCUMENT_AT, DOCUMENT_AT + length));
  const [name = ''] = Object.keys(document);
  const collection: unknown = document[name];
  // As the protocol has them.
  const { lsid, autocommit } = document as { lsid?: { id: mongo.UUID }; autocommit?: boolean };
  return {
    name,
    collection: typeof collection === 'string' ? collection : undefined,
    inTransaction: autocommit === false,
    session: lsid && Buffer.from(lsid.id.buffer).toString('hex'),
    bytes,
  };
}
