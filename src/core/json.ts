import secureJson from 'secure-json-parse';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** How deep values may be nested: far deeper than any schema, far shallower than any call stack. */
const MAX_DEPTH = 32;

/** Says what is wrong with a text of JSON, to complete a sentence: "is not valid UTF-8". */
export class JsonFault extends Error {}

/** A text that may well be JSON, but whose values are nested deeper than anything here is. */
export class DepthFault extends JsonFault {}

/**
 * Parses the bytes of a text of JSON strictly: valid UTF-8, bounded depth, no keys that would touch
 * prototypes.
 *
 * @throws JsonFault
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new JsonFault('is not valid UTF-8');
  }
  // Before the parser, which recurses as all do that look at the value later.
  if (isDeeper(bytes, MAX_DEPTH)) {
    throw new DepthFault(`must not be nested deeper than ${MAX_DEPTH} levels`);
  }
  try {
    return secureJson.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError && error.message.includes('forbidden prototype')) {
      throw new JsonFault('must not contain the keys __proto__ or constructor');
    }
    throw new JsonFault('is not valid JSON', { cause: error });
  }
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}');

/** Whether lists and objects are nested deeper than `limit`; what stands in strings does not count. */
function isDeeper(bytes: Uint8Array, limit: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isInString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) {
      isInString = true;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1;
    }
  }
  return false;
}
