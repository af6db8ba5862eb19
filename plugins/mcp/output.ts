import { type JsonObject, type JsonSchema, jsonSchemaOf } from '../../src/fields/json-schema';
import type { Operation } from '../../src/plugins/operation';

/** The output schema of a tool. */
export type OutputSchema = JsonSchema & { type: 'object' };

/** What a result's reader can do without: a model reads each character of a list of tools. */
const BALLAST = new Set(['description', 'minLength', 'maxLength', 'minimum', 'maximum']);

/**
 * The output schemas of tools. A record is spelled out by the first tool that reads it; other
 * tools that answer it, by itself or within another record, refer to that one. Without this most
 * of a list of tools would be repetition.
 */
export class OutputSchemas {
  readonly #spelledOutBy = new Map<string, string>();

  constructor(operations: readonly Operation[]) {
    for (const { method, tool, response } of operations) {
      if (method === 'GET' && 'name' in tool) {
        this.#claim(jsonSchemaOf(response.schema, 'output'), tool.name);
      }
    }
  }

  of({ response }: Operation, tool: string): OutputSchema {
    const schema = this.#lean(jsonSchemaOf(response.schema, 'output'), tool);
    if (schema['type'] !== 'array') return { ...schema, type: 'object' };
    return {
      type: 'object',
      properties: { items: schema },
      required: ['items'],
      additionalProperties: false,
    };
  }

  #claim(schema: JsonSchema, tool: string): void {
    if (isRecord(schema)) {
      const key = JSON.stringify(schema);
      if (!this.#spelledOutBy.has(key)) this.#spelledOutBy.set(key, tool);
      return;
    }
    for (const part of [schema['items'], ...Object.values(propertiesOf(schema) ?? {})]) {
      if (isObject(part)) this.#claim(part, tool);
    }
  }

  #lean(schema: JsonSchema, tool: string): JsonSchema {
    const other = isRecord(schema) ? this.#spelledOutBy.get(JSON.stringify(schema)) : undefined;
    if (other !== undefined && other !== tool) {
      return {
        type: schema['type'] ?? 'object',
        description: `As in ${other}`,
        properties: { id: { type: 'string' } },
        required: ['id'],
      };
    }
    const result: JsonSchema = {};
    for (const [key, value] of Object.entries(schema)) {
      if (!BALLAST.has(key)) result[key] = value;
    }
    const { items } = schema;
    if (isObject(items)) result['items'] = this.#lean(items, tool);
    const properties = propertiesOf(schema);
    if (properties) {
      result['properties'] = Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [
          name,
          isObject(property) ? this.#lean(property, tool) : property,
        ]),
      );
    }
    return result;
  }
}

function isRecord(schema: JsonSchema): boolean {
  return propertiesOf(schema)?.['id'] !== undefined;
}

function propertiesOf(schema: JsonSchema): JsonObject | undefined {
  return isObject(schema['properties']) ? schema['properties'] : undefined;
}

function isObject(value: JsonObject[string] | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
