import type { ErrorCode } from '../../src/core/errors';
import type { CallInput } from '../../src/plugins/transport';
import { isUuid } from '../../src/core/ids';
import { type JsonObject, type JsonSchema, jsonSchemaOf } from '../../src/fields/json-schema';
import type { Operation } from '../../src/plugins/operation';
import { id } from '../../src/fields/joi';

type Place = 'params' | 'query' | 'body';

/** The input schema of a tool. */
export type InputSchema = JsonSchema & { type: 'object'; properties: JsonObject };

/** The flat arguments of a tool, which REST takes from the path, the query and the body. */
export class Arguments {
  readonly schema: InputSchema;
  readonly #places = new Map<string, Place>();
  /** Where arguments go that nothing is known of, to be refused by their names. */
  readonly #others: Place;

  /** @throws Error when two of them would have the same name */
  constructor(private readonly operation: Operation) {
    const { params = {}, query, body } = operation;
    const properties: JsonObject = {};
    for (const [name, error] of Object.entries(params)) {
      this.#add(name, 'params');
      properties[name] = jsonSchemaOf(id().description(paramDescription(error)), 'input');
    }
    const required = Object.keys(params);
    const conditions: JsonSchema = {};
    for (const [place, schema] of [['query', query] as const, ['body', body] as const]) {
      if (!schema) continue;
      // What JSON Schema says of an object.
      const part = jsonSchemaOf(schema, 'input') as InputSchema & { required?: string[] };
      for (const name of Object.keys(part.properties)) this.#add(name, place);
      Object.assign(properties, part.properties);
      required.push(...(part.required ?? []));
      Object.assign(conditions, part);
    }
    this.schema = {
      ...conditions,
      type: 'object',
      properties,
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
    };
    this.#others = body ? 'body' : 'query';
  }

  /** The arguments where the operation looks for them; it is the operation that checks them. */
  toInput(given: Readonly<Record<string, unknown>>): CallInput {
    const input = { params: {}, query: {}, body: {} };
    for (const [name, value] of Object.entries(given)) {
      const place = this.#places.get(name) ?? this.#others;
      if (place !== 'params') Object.assign(input[place], { [name]: value });
      // An empty string is refused as any text that is not a UUID.
      else Object.assign(input.params, { [name]: typeof value === 'string' ? value : '' });
    }
    return input;
  }

  /** What is wrong with the path parameter that `error` came from, if not its record. */
  idFault(error: ErrorCode, given: Readonly<Record<string, unknown>>): string | undefined {
    for (const [name, kind] of Object.entries(this.operation.params ?? {})) {
      const value = given[name];
      if (kind !== error || (typeof value === 'string' && isUuid(value))) continue;
      return value === undefined ? `${name} is required.` : `${name} must be a UUID.`;
    }
    return undefined;
  }

  #add(name: string, place: Place): void {
    const other = this.#places.get(name);
    if (other) throw new Error(`The argument ${name} would be both of ${other} and of ${place}.`);
    this.#places.set(name, place);
  }
}

/** Every path parameter is the id of a record, and its error says of which. */
function paramDescription({ code }: ErrorCode): string {
  return `Id of the ${code.replace(/_not_found$/, '').replaceAll('_', ' ')}`;
}
