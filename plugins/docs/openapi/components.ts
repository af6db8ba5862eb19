import { isRecord } from '../../../src/core/values';
import type { Json, JsonObject, JsonSchema, SharedSchemas } from '../../../src/fields/json-schema';

const PREFIX = '#/components/schemas/';

/** Schemas that a document describes once and refers to by name. */
export class Components implements SharedSchemas {
  readonly #byName = new Map<string, JsonSchema>();

  /**
   * Keeps a schema; answers the reference to it.
   *
   * @throws Error where the name is that of another schema
   */
  refer(name: string, schema: JsonSchema): JsonSchema {
    const known = this.#byName.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas are named ${name}; name the one that extends the other.`);
    }
    this.#byName.set(name, schema);
    return { $ref: `${PREFIX}${name}` };
  }

  /** A reference to a schema that has a title, under that; else the schema with references. */
  referTitled(schema: JsonSchema): JsonSchema {
    const { title, ...rest } = schema;
    if (typeof title === 'string') return this.refer(title, rest);
    const { anyOf } = schema;
    if (!Array.isArray(anyOf)) return schema;
    return {
      ...schema,
      anyOf: anyOf.map((each) => (isRecord(each) ? this.referTitled(each) : each)),
    };
  }

  /** The schema that another one refers to, or else that schema itself. */
  resolve(schema: JsonSchema): JsonSchema {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    const found = this.#byName.get($ref.slice(PREFIX.length));
    if (!found) throw new Error(`There is no schema ${$ref}.`);
    return found;
  }

  /** All of them, by name. */
  toJson(): JsonObject {
    const entries: [string, Json][] = [...this.#byName];
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
