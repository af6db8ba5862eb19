import bodyParser from 'koa-bodyparser';
import type { Context, Middleware } from 'koa';
import compose from 'koa-compose';

import {
  type ApiError,
  type ErrorCode,
  invalidJson,
  invalidText,
  payloadTooLarge,
  unsupportedMediaType,
  validationError,
} from '../core/errors';
import { decodedText, EncodingFault } from '../core/text/encodings';
import { parseJson } from '../core/text/json';
import { JsonFault, StructureFault } from '../core/text/json-limits';
import { MAX_BODY_KIB, MAX_BODY_VALUES } from '../core/http/request-limits';
import { yieldToEventLoop } from '../core/async';
import type { LargeBody } from '../plugins/operation';

/** Longer bodies take milliseconds to parse and to validate. In bytes. */
const LONG = 16 * 1024;
/** How much of the name of an encoding an error shows. */
const MAX_CHARSET = 40;

type Large = Pick<LargeBody<unknown, unknown>, 'maxKib' | 'text'> | undefined;

interface Expected {
  isRequired: boolean;
  large?: Large;
}

/**
 * Parses the body of a request as JSON, up to {@link MAX_BODY_KIB} unless `large` allows more. A text
 * of the media type of `large` becomes one field.
 *
 * @throws ApiError invalid_json or for a text invalid_text, unsupported_media_type, payload_too_large,
 *   or validation_error if the structure of the body is too large
 */
export function bodyParserOf({ isRequired, large }: Expected): Middleware {
  const types = ['application/json', ...(large ? [large.text.type] : [])];
  const maxKib = large?.maxKib ?? MAX_BODY_KIB;
  const parse = compose([requireType(types, large), bytes(types, maxKib, large), content(large)]);
  return async function bodyParser(ctx, next) {
    if (hasBody(ctx)) await parse(ctx, next);
    else if (isRequired) throw empty(ctx, large);
    else await next();
  };
}

/**
 * Reads the inflated bytes, up to the limit, as a text of one character each. `content` parses them,
 * because the library's own JSON mode silently replaces invalid UTF-8.
 */
function bytes(types: string[], maxKib: number, large: Large): Middleware {
  // Its types omit `encoding`.
  const options: bodyParser.Options & { encoding: string } = {
    enableTypes: ['text'],
    encoding: 'binary',
    extendTypes: { text: types },
    textLimit: `${maxKib}kb`,
    onerror: (error, ctx) => {
      throw bodyError(error, maxKib, isText(ctx, large) ? invalidText : invalidJson);
    },
  };
  return bodyParser(options);
}

/** Whether the headers of a request announce a body. */
function hasBody({ req: { headers } }: Context): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Whether the type of a body is that of the text that it may be. */
function isText({ request }: Context, large: Large): boolean {
  return large !== undefined && request.type.toLowerCase() === large.text.type;
}

function requireType(types: string[], large: Large): Middleware {
  return (ctx, next) => {
    const { headers } = ctx.req;
    // Content codings are case-insensitive; the library only knows them in lower case.
    const coding = headers['content-encoding']?.trim().toLowerCase();
    if (coding !== undefined) headers['content-encoding'] = coding === 'x-gzip' ? 'gzip' : coding;
    const { charset } = ctx.request;
    const isUtf8 = charset === '' || /^utf-?8$/i.test(charset);
    if (ctx.request.is(types) && isUtf8) return next();
    if (isText(ctx, large)) {
      if (/^utf-?16(?:le|be)?$/i.test(charset)) return next();
      throw encodingError(new EncodingFault(charset.slice(0, MAX_CHARSET)));
    }
    throw unsupportedMediaType.error(
      `The request body must be sent as ${types.join(' or ')} in UTF-8.`,
    );
  };
}

function content(large: Large): Middleware {
  return async (ctx, next) => {
    const { request } = ctx;
    if (typeof request.body !== 'string' || request.body === '') throw empty(ctx, large);
    const body = Buffer.from(request.body, 'binary');
    if (body.length > LONG) await yieldToEventLoop();
    try {
      if (large && isText(ctx, large)) {
        const text = decodedText(body);
        if (text.trim() === '') throw empty(ctx, large);
        request.body = { [large.text.field]: text };
      } else {
        request.body = parseJson(body, MAX_BODY_VALUES);
      }
    } catch (error) {
      if (error instanceof EncodingFault) throw encodingError(error);
      if (!(error instanceof JsonFault)) throw error;
      const kind = error instanceof StructureFault ? validationError : invalidJson;
      throw kind.error(`The request body ${error.message}.`);
    }
    await next();
  };
}

function empty(ctx: Context, large: Large): ApiError {
  return isText(ctx, large)
    ? invalidText.error('The request body is empty.')
    : invalidJson.error('The request body is empty; it must be a JSON object.');
}

function encodingError({ message }: EncodingFault): ApiError {
  return invalidText.error(`The request body ${message}.`);
}

function bodyError(error: unknown, maxKib: number, invalid: ErrorCode): ApiError {
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
    return invalid.error('The compressed request body is corrupt or cut short.');
  }
  return invalid.error('The request body was cut short.');
}
