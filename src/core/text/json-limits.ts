/** The maximum depth: far deeper than any schema, far shallower than any call stack. */
const MAX_DEPTH = 32;
/** The maximum number of members of an object: several times those of any schema. */
const MAX_MEMBERS = 100;

/** Invalid JSON; the message completes a sentence: "is not valid UTF-8". */
export class JsonFault extends Error {}

/** JSON with too deep or too large a structure. */
export class StructureFault extends JsonFault {}

const [QUOTE, BACKSLASH, COLON, COMMA] = Buffer.from('"\\:,');
const [BRACKET, BRACKET_END, BRACE, BRACE_END] = Buffer.from('[]{}');

/**
 * Bounds the structure of a JSON text before it is parsed: what reads the value later may recurse, or take
 * time for each member. Text that is not JSON passes.
 */
export class JsonLimits {
  readonly #maxValues: number;
  #values = 1;
  #depth = 0;
  /** The colons so far in the object at each depth. */
  readonly #members = new Uint32Array(MAX_DEPTH + 1);
  #isText = false;
  #isEscaped = false;

  /** @param maxValues the most values, counting those within others */
  constructor(maxValues = Infinity) {
    this.#maxValues = maxValues;
  }

  /** Reads the next part of the text. @throws StructureFault */
  read(bytes: Uint8Array): void {
    const members = this.#members;
    // A member costs more to read than a variable.
    let [values, depth] = [this.#values, this.#depth];
    let [isText, isEscaped] = [this.#isText, this.#isEscaped];
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (isEscaped) isEscaped = false;
      else if (isText && byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) isText = !isText;
      else if (isText) continue;
      else if (byte === COMMA) values += 1;
      else if (byte === BRACKET || byte === BRACE) {
        values += 1;
        depth += 1;
        if (depth > MAX_DEPTH) {
          throw new StructureFault(`must not be nested deeper than ${MAX_DEPTH} levels`);
        }
        members[depth] = 0;
      } else if (byte === BRACKET_END || byte === BRACE_END) depth = Math.max(0, depth - 1);
      else if (byte === COLON) {
        members[depth] = (members[depth] ?? 0) + 1;
        if ((members[depth] ?? 0) > MAX_MEMBERS) {
          throw new StructureFault(`must not have an object of more than ${MAX_MEMBERS} fields`);
        }
      }
    }
    [this.#values, this.#depth] = [values, depth];
    [this.#isText, this.#isEscaped] = [isText, isEscaped];
    if (values <= this.#maxValues) return;
    const most = this.#maxValues.toLocaleString('en');
    throw new StructureFault(`must not have more than ${most} values`);
  }
}
