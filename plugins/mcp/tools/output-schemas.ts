import { isRecord } from '../../../src/core/values';
import { type JsonObject, type JsonSchema, jsonSchemaOf } from '../../../src/fields/json-schema';
import type { Operation } from '../../../src/plugins/operation';

/** The output schema of a tool. */
export type OutputSchema = JsonSchema & { type: 'object' };

/** Keywords that a reader of results does without: a model reads each character of a list of tools. */
const OMITTED = new Set([
  ...['description', 'format', 'minLength', 'maxLength', 'minimum', 'maximum'],
  'additionalProperties',
]);

/**
 * The output schemas of tools. A resource, or a whole answer, is described in full by the first tool that reads it;
 * other tools that answer it, by itself or within another, refer to that one. Without this most of
 * a list of tools would be repetition.
 */
export class OutputSchemas {
  /** Tools by the JSON of the schema of the resource that they describe in full. */
  readonly #describedBy = new Map<string, string>();

  constructor(operations: readonly Operation[]) {
    for (const { method, tool, response } of operations) {
      if (method === 'GET' && 'name' in tool) {
        const schema = jsonSchemaOf(response.schema, 'output');
        this.#register(schema, tool.name);
        const key = JSON.stringify(schema);
        // A list of a resource is shorter than a reference, and the resource would not be described.
        if (schema['type'] === 'object' && !this.#describedBy.has(key)) {
          this.#describedBy.set(key, tool.name);
        }
      }
    }
  }

  of({ response }: Operation, tool: string): OutputSchema {
    const schema = this.#compact(jsonSchemaOf(response.schema, 'output'), tool);
    if (schema['type'] !== 'array') return { ...schema, type: 'object' };
    return {
      type: 'object',
      properties: { items: schema },
      required: ['items'],
    };
  }

  #register(schema: JsonSchema, tool: string): void {
    if (isResource(schema)) {
      const key = JSON.stringify(schema);
      if (!this.#describedBy.has(key)) this.#describedBy.set(key, tool);
      return;
    }
    for (const part of [
      schema['items'],
      ...choicesOf(schema),
      ...Object.values(propertiesOf(schema) ?? {}),
    ]) {
      if (isRecord(part)) this.#register(part, tool);
    }
  }

  #compact(schema: JsonSchema, tool: string): JsonSchema {
    const other = this.#describedBy.get(JSON.stringify(schema));
    if (other !== undefined && other !== tool) {
      if (!isResource(schema))
        return { type: schema['type'] ?? 'object', description: `As in ${other}` };
      return {
        type: schema['type'] ?? 'object',
        description: `As in ${other}`,
        properties: { id: { type: 'string' } },
        required: ['id'],
      };
    }
    const result: JsonSchema = {};
    for (const [key, value] of Object.entries(schema)) {
      if (!OMITTED.has(key)) result[key] = value;
    }
    const { items } = schema;
    const choices = choicesOf(schema);
    if (choices.length > 0) result['anyOf'] = choices.map((each) => this.#compact(each, tool));
    if (isRecord(items)) result['items'] = this.#compact(items, tool);
    const properties = propertiesOf(schema);
    if (properties) {
      result['properties'] = Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [
          name,
          isRecord(property) ? this.#compact(property, tool) : property,
        ]),
      );
    }
    return result;
  }
}

function choicesOf({ anyOf }: JsonSchema): JsonSchema[] {
  return Array.isArray(anyOf) ? anyOf.filter((each) => isRecord(each)) : [];
}

/** A resource, unlike other objects, has an id. */
function isResource(schema: JsonSchema): boolean {
  return propertiesOf(schema)?.['id'] !== undefined;
}

function propertiesOf({ properties }: JsonSchema): JsonObject | undefined {
  return isRecord(properties) ? properties : undefined;
}
