import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

import type { Context } from 'koa';
import Negotiator from 'negotiator';

import { isRecord } from '../values';

/** The supported content codings, the better one first. */
export const CODINGS = ['br', 'gzip'] as const;
const OFFERED = [...CODINGS, 'identity'];
export type Coding = (typeof CODINGS)[number];

/** Shorter bodies are not compressed. In bytes. */
export const MIN_COMPRESSED = 1024;

/** Higher qualities take several times as long and save a tenth. */
export const BROTLI_OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const COMPRESS = {
  br: (body: Buffer) => promisify(brotliCompress)(body, BROTLI_OPTIONS),
  gzip: promisify<Buffer, Buffer>(gzip),
};

export async function compress(body: Buffer, coding: Coding): Promise<Buffer> {
  return inOwnMemory(await COMPRESS[coding](body));
}

/** Short buffers, and those of zlib, are slices of larger ones, which they keep in memory. */
function inOwnMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** The body of a response that can be cached: it is hashed and compressed once. */
export class Content {
  readonly body: Buffer;
  /** The ETag, which is a weak one for compressed forms. */
  readonly etag: string;
  readonly #compressed = new Map<Coding, Promise<Buffer>>();

  constructor(
    content: Buffer | string,
    readonly type = 'application/json',
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

/** The length of an ETag without quotes: 132 bits of a hash. */
const TAG_LENGTH = 22;

/** The strong ETag of a body. */
export function etagOf(body: Buffer | string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, TAG_LENGTH)}"`;
}

/** What proxies add to an ETag. */
const SUFFIX = '(?:[-;/][\\w;/-]*)?';
/** An ETag in If-Match or If-None-Match. */
const NAMED_TAG = new RegExp(`"([\\w-]{${TAG_LENGTH}})${SUFFIX}"`, 'g');

/**
 * Whether If-Match or If-None-Match contains an ETag. Proxies that compress turn strong ETags into weak
 * ones, or add a suffix: `"…-gzip"`, `"…;br"`.
 */
export function namesEtag(header: string, etag: string): boolean {
  if (header.trim() === '*') return true;
  return [...header.matchAll(NAMED_TAG)].some(([, named]) => `"${named}"` === etag);
}

const NAMED_UPDATE = new RegExp(`"u:([\\w:.+-]{19,26}Z)${SUFFIX}"`, 'g');

/**
 * Whether If-Match contains `"u:<updatedAt>"` of a record. Unlike its ETag, `updatedAt` is in every list, and
 * stays when other records change what the record shows.
 */
export function namesUpdate(header: string, record: unknown): boolean {
  const updatedAt = isRecord(record) ? record['updatedAt'] : undefined;
  if (!(updatedAt instanceof Date)) return false;
  return [...header.matchAll(NAMED_UPDATE)].some(([, named]) => named === updatedAt.toISOString());
}

/** A text that is made while it is sent. */
export class TextStream {
  constructor(
    readonly type: string,
    readonly pieces: AsyncGenerator<string>,
  ) {}
}

/** Responds with content, compressed if the client accepts that, or with 304 if it has the content. */
export async function sendContent(ctx: Context, content: Content): Promise<void> {
  const coding = codingFor(ctx, content.body.length);
  setEtag(ctx, content.etag, coding);
  // Koa's own comparison never matches if the client also sends `no-cache`.
  if (namesEtag(ctx.get('If-None-Match'), content.etag)) {
    ctx.status = 304;
    return;
  }
  const body = coding === undefined ? content.body : await content.compressed(coding);
  ctx.type = content.type;
  if (coding !== undefined) ctx.set('Content-Encoding', coding);
  ctx.body = body;
}

/** Sets the ETag of a response, a weak one if it is compressed. */
export function setEtag(ctx: Context, etag: string, coding: Coding | undefined): void {
  ctx.set('ETag', coding === undefined ? etag : `W/${etag}`);
  ctx.vary('Accept-Encoding');
}

/** The content coding for a body of this length that the client prefers (RFC 9110, 12.5.3), if any. */
export function codingFor({ req }: Context, length: number): Coding | undefined {
  if (length < MIN_COMPRESSED) return undefined;
  const [chosen] = new Negotiator(req).encodings(OFFERED, { preferred: OFFERED });
  return CODINGS.find((coding) => coding === chosen);
}
