import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** How a body may be compressed, the better one first. */
export const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** What is shorter is sent and stored as it is: compressing it gains little. In bytes. */
export const MIN_COMPRESSED = 1024;

/** Beyond this brotli takes several times as long for a tenth less. */
export const BROTLI_OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const COMPRESS = {
  br: (body: Buffer) => promisify(brotliCompress)(body, BROTLI_OPTIONS),
  gzip: promisify<Buffer, Buffer>(gzip),
};

/** The compressed form of a body. */
export async function compress(body: Buffer, coding: Coding): Promise<Buffer> {
  return inOwnMemory(await COMPRESS[coding](body));
}

/** Short buffers, and those of zlib, are slices that keep many kilobytes from being freed. */
function inOwnMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** The body of an answer that may be sent many times: hashed once, and compressed once. */
export class Content {
  readonly body: Buffer;
  /** The entity tag; it is that of the compressed forms too, which makes it a weak one there. */
  readonly etag: string;
  readonly #compressed = new Map<Coding, Promise<Buffer>>();

  /** @param type the media type, where it is not the usual one of such an answer */
  constructor(
    content: Buffer | string,
    readonly type?: string,
  ) {
    this.body = inOwnMemory(Buffer.from(content));
    this.etag = etagOf(this.body);
  }

  async compressed(coding: Coding): Promise<Buffer> {
    const compressed = this.#compressed.get(coding) ?? compress(this.body, coding);
    this.#compressed.set(coding, compressed);
    try {
      return await compressed;
    } catch (error) {
      this.#compressed.delete(coding);
      throw error;
    }
  }
}

/** How long a tag is without its quotes: 132 bits of a hash. */
const TAG_LENGTH = 22;

/** An entity tag of what a body says. */
export function etagOf(body: Buffer | string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, TAG_LENGTH)}"`;
}

/** A member of If-Match or If-None-Match: the tag within its quotes, up to what proxies add to it. */
const NAMED_TAG = new RegExp(`"([\\w-]{${TAG_LENGTH}})(?:[-;/][\\w;/-]*)?"`, 'g');

/**
 * Whether the header If-Match or If-None-Match names an entity tag. Proxies that compress make weak
 * ones of strong ones, as this program itself, or add to them: `"…-gzip"`, `"…;br"`.
 */
export function namesEtag(header: string, etag: string): boolean {
  if (header.trim() === '*') return true;
  return [...header.matchAll(NAMED_TAG)].some(([, named]) => `"${named}"` === etag);
}
