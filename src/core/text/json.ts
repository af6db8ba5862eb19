// It removes a byte order mark.
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The maximum depth: far deeper than any schema, far shallower than any call stack. */
const MAX_DEPTH = 32;

/** Invalid JSON; the message completes a sentence: "is not valid UTF-8". */
export class JsonFault extends Error {}

/** JSON that is nested too deep. */
export class DepthFault extends JsonFault {}

/** Decodes UTF-8, with or without a byte order mark. @throws JsonFault */
export function parseText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new JsonFault('is not valid UTF-8');
  }
}

/**
 * Parses JSON: valid UTF-8 up to a maximum depth. It keeps all keys; {@link prototypeKeyIn} finds those
 * that must not be copied.
 *
 * @throws JsonFault
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = parseText(bytes);
  // Checked before anything recurses into the value.
  if (isDeeper(bytes, MAX_DEPTH)) {
    throw new DepthFault(`must not be nested deeper than ${MAX_DEPTH} levels`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new JsonFault('is not valid JSON', { cause: error });
  }
}

/** Keys that change the prototype of an object that they are copied to. */
const PROTOTYPE_KEYS = new Set(['__proto__', 'constructor']);

/** The path of a key that would change prototypes, such as `notes.0.__proto__`, if any. */
export function prototypeKeyIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    if (PROTOTYPE_KEYS.has(key)) return key;
    const inner = prototypeKeyIn(member);
    if (inner !== undefined) return `${key}.${inner}`;
  }
  return undefined;
}

const [QUOTE = 0, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] =
  Buffer.from('"\\[]{}');

/** Whether arrays and objects are nested deeper than `limit`. */
function isDeeper(bytes: Uint8Array, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
      if (at === -1) return false;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1;
    }
  }
  return false;
}

/** The index of the quote that ends a string; -1 if there is none. */
function endOfString(bytes: Uint8Array, begin: number): number {
  for (let end = begin; ;) {
    // Ten times as fast as a loop over the bytes of long strings.
    end = bytes.indexOf(QUOTE, end + 1);
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
}
