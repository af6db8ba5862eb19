// It leaves a byte order mark out, with which some editors begin a file.
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** How deep values may be nested: far deeper than any schema, far shallower than any call stack. */
const MAX_DEPTH = 32;

/** Says what is wrong with a text of JSON, to complete a sentence: "is not valid UTF-8". */
export class JsonFault extends Error {}

/** A text that may well be JSON, but whose values are nested deeper than anything here is. */
export class DepthFault extends JsonFault {}

/** A text of UTF-8, without the byte order mark that it may begin with. @throws JsonFault */
export function parseText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new JsonFault('is not valid UTF-8');
  }
}

/**
 * Parses the bytes of a text of JSON strictly: valid UTF-8, bounded depth. Members are kept whatever
 * their names: {@link prototypeKeyIn} finds those that nothing may copy.
 *
 * @throws JsonFault
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = parseText(bytes);
  // Before the parser, which recurses as all do that look at the value later.
  if (isDeeper(bytes, MAX_DEPTH)) {
    throw new DepthFault(`must not be nested deeper than ${MAX_DEPTH} levels`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new JsonFault('is not valid JSON', { cause: error });
  }
}

/** Names of members that, copied to another object, would change what it inherits. */
const PROTOTYPE_KEYS = new Set(['__proto__', 'constructor']);

/** Where parsed JSON has a key that would touch prototypes, as `notes.0.__proto__`. */
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

/** Whether lists and objects are nested deeper than `limit`; what stands in strings does not count. */
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

/** Where the string that begins there ends; -1 where it does not. */
function endOfString(bytes: Uint8Array, begin: number): number {
  for (let end = begin; ;) {
    // Texts are long: looking at each of their bytes here would take ten times as long.
    end = bytes.indexOf(QUOTE, end + 1);
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
}
