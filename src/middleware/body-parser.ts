import bodyParser from 'koa-bodyparser';
import type { Context, Middleware } from 'koa';
import compose from 'koa-compose';

import {
  type ApiError,
  invalidJson,
  payloadTooLarge,
  unsupportedMediaType,
  validationError,
} from '../core/errors';
import { parseJson, parseText } from '../core/text/json';
import { JsonFault, StructureFault } from '../core/text/json-limits';
import { MAX_BODY_KIB, MAX_BODY_VALUES } from '../core/http/request-limits';
import { yieldToEventLoop } from '../core/async';
import type { LargeBody } from '../plugins/operation';

/** Longer bodies take milliseconds to parse and to validate. In bytes. */
const LONG = 16 * 1024;

interface Expected {
  isRequired: boolean;
  large?: Pick<LargeBody<unknown, unknown>, 'maxKib' | 'text'> | undefined;
}

/**
 * Parses the body of a request as JSON, up to {@link MAX_BODY_KIB} unless `large` allows more. A text
 * of the media type of `large` becomes one field.
 *
 * @throws ApiError invalid_json, unsupported_media_type, payload_too_large, or validation_error if
 *   the structure of the body is too large
 */
export function bodyParserOf({ isRequired, large }: Expected): Middleware {
  const types = ['application/json', ...(large ? [large.text.type] : [])];
  const maxKib = large?.maxKib ?? MAX_BODY_KIB;
  const parse = compose([requireType(types), bytes(types, maxKib), content(large)]);
  return async function bodyParser(ctx, next) {
    if (hasBody(ctx)) await parse(ctx, next);
    else if (isRequired) throw empty();
    else await next();
  };
}

/**
 * Reads the inflated bytes, up to the limit, as a text of one character each. `content` parses them,
 * because the library's own JSON mode silently replaces invalid UTF-8.
 */
function bytes(types: string[], maxKib: number): Middleware {
  // Its types omit `encoding`.
  const options: bodyParser.Options & { encoding: string } = {
    enableTypes: ['text'],
    encoding: 'binary',
    extendTypes: { text: types },
    textLimit: `${maxKib}kb`,
    onerror: (error) => {
      throw bodyError(error, maxKib);
    },
  };
  return bodyParser(options);
}

/** Whether the headers of a request announce a body. */
function hasBody({ req: { headers } }: Context): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function requireType(types: string[]): Middleware {
  return (ctx, next) => {
    const { headers } = ctx.req;
    // Content codings are case-insensitive; the library only knows them in lower case.
    const coding = headers['content-encoding']?.trim().toLowerCase();
    if (coding !== undefined) headers['content-encoding'] = coding === 'x-gzip' ? 'gzip' : coding;
    const { charset } = ctx.request;
    const isUtf8 = charset === '' || /^utf-?8$/i.test(charset);
    if (ctx.request.is(types) && isUtf8) return next();
    throw unsupportedMediaType.error(
      `The request body must be sent as ${types.join(' or ')} in UTF-8.`,
    );
  };
}

function content(large: Expected['large']): Middleware {
  return async ({ request }, next) => {
    if (typeof request.body !== 'string' || request.body === '') throw empty();
    const body = Buffer.from(request.body, 'binary');
    if (body.length > LONG) await yieldToEventLoop();
    try {
      const isText = large && request.is(large.text.type);
      request.body = isText
        ? { [large.text.field]: parseText(body) }
        : parseJson(body, MAX_BODY_VALUES);
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      const kind = error instanceof StructureFault ? validationError : invalidJson;
      throw kind.error(`The request body ${error.message}.`);
    }
    await next();
  };
}

function empty(): ApiError {
  return invalidJson.error('The request body is empty; it must be a JSON object.');
}

function bodyError(error: unknown, maxKib: number): ApiError {
  // The properties of errors from http-errors and zlib.
  const facts = error as { status?: number; code?: string };
  if (facts.status === 413) {
    return payloadTooLarge.error(
      `The request body is larger than ${maxKib.toLocaleString('en')} KiB.`,
    );
  }
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
