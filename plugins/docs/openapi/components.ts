import { isRecord } from '../../../src/core/values';
import type { Json, JsonObject, JsonSchema, SharedSchemas } from '../../../src/fields/json-schema';

const PREFIX = '#/components/schemas/';

/** Schemas that the document defines once and refers to by name. */
export class Components implements SharedSchemas {
  readonly #byName = new Map<string, JsonSchema>();

  /**
   * Adds a schema and returns a reference to it.
   *
   * @throws Error when another schema has the name
   */
  refer(name: string, schema: JsonSchema): JsonSchema {
    const known = this.#byName.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas are named ${name}; name the one that extends the other.`);
    }
    this.#byName.set(name, schema);
    return { $ref: `${PREFIX}${name}` };
  }

  /** Refers to a schema by its title; one without a title is returned, with references within. */
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

  /** Follows a reference; returns any other schema as it is. */
  resolve(schema: JsonSchema): JsonSchema {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    const found = this.#byName.get($ref.slice(PREFIX.length));
    if (!found) throw new Error(`There is no schema ${$ref}.`);
    return found;
  }

  /** All schemas, sorted by name. */
  toJson(): JsonObject {
    const entries: [string, Json][] = [...this.#byName];
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
