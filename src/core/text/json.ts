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
  let value: unknown;
  try {
    // It does not recurse, unlike what reads the value later.
    value = JSON.parse(text);
  } catch (error) {
    throw new JsonFault('is not valid JSON', { cause: error });
  }
  if (!isDeeper(value, MAX_DEPTH)) return value;
  throw new DepthFault(`must not be nested deeper than ${MAX_DEPTH} levels`);
}

/** Whether arrays and objects are nested deeper than `levels`. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
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

/** Messages that name a field without quotes around it. */
export const BARE_LABELS = { errors: { wrap: { label: false } } } as const;

/** Options for JSON, which has its own types, so that nothing is converted. */
export const JSON_VALIDATION = { ...BARE_LABELS, convert: false } as const;
