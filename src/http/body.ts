import bodyParser from 'koa-bodyparser';
import type { Context } from 'koa';

import {
  type ApiError,
  invalidJson,
  payloadTooLarge,
  unsupportedMediaType,
  validationError,
} from '../core/errors';
import { DepthFault, JsonFault, parseJson } from '../core/json';
import { MAX_BODY_KIB } from '../core/request-limits';
import { ownTurn } from '../core/turns';

/** From which length on it takes milliseconds to parse and to check a body; in bytes. */
const LONG = 16 * 1024;

// The parser's text mode gives the bytes as they came, inflated and no more than the limit; JSON
// is parsed here, because the parser's own JSON mode replaces bad UTF-8 silently.
const textModeOptions: bodyParser.Options = {
  enableTypes: ['text'],
  extendTypes: { text: ['application/json'] },
  textLimit: `${MAX_BODY_KIB}kb`,
};
// The parser passes `encoding` on to raw-body, where null means bytes; its type does not know it.
const readBytes = bodyParser(Object.assign(textModeOptions, { encoding: null }));

/**
 * The body of a request as JSON, at most {@link MAX_BODY_KIB} of it.
 *
 * @throws ApiError invalid_json, unsupported_media_type, payload_too_large, or validation_error
 *   where it is nested too deep
 */
export async function readJson(ctx: Context): Promise<unknown> {
  if (!hasBody(ctx)) {
    throw invalidJson.error('The request body is empty; it must be a JSON object.');
  }
  const { headers } = ctx.req;
  // Names of codings are the same in either case; the parser knows them in lower case only.
  const coding = headers['content-encoding']?.trim().toLowerCase();
  if (coding !== undefined) headers['content-encoding'] = coding === 'x-gzip' ? 'gzip' : coding;
  if (!ctx.request.is('application/json') || !isUtf8(ctx.request.charset)) {
    throw unsupportedMediaType.error();
  }
  try {
    await readBytes(ctx, async () => undefined);
  } catch (error) {
    throw bodyError(error);
  }
  if (bodyLength(ctx) > LONG) await ownTurn();
  return jsonOf(ctx.request.body);
}

/** How many bytes were read of a body, inflated. */
export function bodyLength({ request: { body } }: Context): number {
  return Buffer.isBuffer(body) ? body.length : 0;
}

/** Whether a request has a body. */
export function hasBody({ req: { headers } }: Context): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function jsonOf(bytes: unknown): unknown {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
    throw invalidJson.error('The request body is empty; it must be a JSON object.');
  }
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const kind = error instanceof DepthFault ? validationError : invalidJson;
    throw kind.error(`The request body ${error.message}.`);
  }
}

function isUtf8(charset: string): boolean {
  return charset === '' || /^utf-?8$/i.test(charset);
}

function bodyError(error: unknown): ApiError {
  // What http-errors and zlib put on theirs.
  const facts = error as { status?: number; type?: string; code?: string };
  if (facts.status === 413) return payloadTooLarge.error();
  if (facts.status === 415) {
    return unsupportedMediaType.error(
      'The Content-Encoding must be gzip, deflate, br or identity.',
    );
  }
  // Zlib's own codes, and Brotli's.
  if (/^(Z_|ERR__ERROR_)/.test(facts.code ?? '')) {
    return invalidJson.error('The compressed request body is corrupt or cut short.');
  }
  return invalidJson.error('The request body was cut short.');
}
