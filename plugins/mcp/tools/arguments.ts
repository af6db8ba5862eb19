import type { ErrorCode } from '../../../src/core/errors';
import { isUuid } from '../../../src/core/ids';
import { id } from '../../../src/fields/joi';
import { type JsonObject, type JsonSchema, jsonSchemaOf } from '../../../src/fields/json-schema';
import type { Operation } from '../../../src/plugins/operation';
import type { CallInput } from '../../../src/plugins/transport';
import { inCommonKeywords } from './input-schemas';

/** Where an operation looks for a value. */
type Source = Exclude<keyof CallInput, 'repeated'>;

/** The input schema of a tool. */
type InputSchema = JsonSchema & { type: 'object'; properties: JsonObject };

/** The flat arguments of a tool, which REST takes from the path, the query and the body. */
export class ToolArguments {
  /** What the operation accepts, in all keywords of JSON Schema that this takes. */
  readonly exactSchema: InputSchema;
  /** What a model sees of it. */
  readonly schema: InputSchema;
  readonly #sources = new Map<string, Source>();
  /** Where unknown arguments go, to be refused by their names. */
  readonly #unknown: Source;
  readonly #operation: Operation;
  readonly #defaults: Readonly<Record<string, string>>;

  /** @throws Error when two of them would have the same name */
  constructor(operation: Operation) {
    this.#operation = operation;
    const { params = {}, query, body, tool } = operation;
    this.#defaults = ('name' in tool && tool.defaults) || {};
    const properties: JsonObject = {};
    for (const [name, error] of Object.entries(params)) {
      this.#add(name, 'params');
      properties[name] = jsonSchemaOf(id().description(paramDescription(error)), 'input');
    }
    const required = Object.keys(params);
    const conditions: JsonSchema = {};
    for (const [source, joi] of [['query', query] as const, ['body', body] as const]) {
      if (!joi) continue;
      // What JSON Schema says of an object.
      const schema = jsonSchemaOf(joi, 'input') as InputSchema & { required?: string[] };
      for (const name of Object.keys(schema.properties)) this.#add(name, source);
      Object.assign(properties, schema.properties);
      required.push(...(schema.required ?? []));
      Object.assign(conditions, schema);
    }
    for (const [name, value] of Object.entries(this.#defaults)) {
      Object.assign(properties[name] ?? {}, { default: value });
    }
    this.exactSchema = {
      ...conditions,
      type: 'object',
      properties,
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
    };
    // An object of properties stays one.
    this.schema = inCommonKeywords(this.exactSchema) as InputSchema;
    this.#unknown = body ? 'body' : 'query';
  }

  /** The arguments where the operation looks for them; it is the operation that checks them. */
  toInput(args: Readonly<Record<string, unknown>>): CallInput {
    const entries = Object.entries({ ...this.#defaults, ...args });
    const entriesOf = (source: Source): [string, unknown][] =>
      entries.filter(([name]) => (this.#sources.get(name) ?? this.#unknown) === source);
    return {
      // An empty string is refused as any text that is not a UUID.
      params: Object.fromEntries(
        entriesOf('params').map(([name, value]) => [name, typeof value === 'string' ? value : '']),
      ),
      query: Object.fromEntries(entriesOf('query')),
      body: Object.fromEntries(entriesOf('body')),
    };
  }

  /** What is wrong with the path parameters, which REST answers as records that are not there. */
  idFaults(args: Readonly<Record<string, unknown>>): string[] {
    return Object.keys(this.#operation.params ?? {}).flatMap((name) => {
      const value = args[name];
      if (typeof value === 'string' && isUuid(value)) return [];
      return value === undefined ? `${name} is required.` : `${name} must be a UUID.`;
    });
  }

  #add(name: string, source: Source): void {
    const other = this.#sources.get(name);
    if (other) throw new Error(`The argument ${name} would be both of ${other} and of ${source}.`);
    this.#sources.set(name, source);
  }
}

/** Every path parameter is the id of a record, and its error says of which. */
function paramDescription({ code }: ErrorCode): string {
  return `Id of the ${code.replace(/_not_found$/, '').replaceAll('_', ' ')}`;
}
