import type { ErrorCode } from '../../../src/core/errors';
import { TOOL_PAGE_SIZE } from '../../../src/core/http/request-limits';
import { isUuid } from '../../../src/core/ids';
import { id } from '../../../src/fields/joi';
import { type JsonObject, type JsonSchema, jsonSchemaOf } from '../../../src/fields/json-schema';
import type { Operation } from '../../../src/plugins/operation';
import type { CallInput } from '../../../src/plugins/protocol-endpoint';
import { givenOf } from './given';
import { inCommonKeywords } from './input-schemas';
import { resultKindOf } from './output-schemas';
import { OwnArguments } from './own-arguments';

/** Where an operation takes an argument from, or that only tools have it. */
type Source = 'params' | 'query' | 'body' | 'own';

/** The input schema of a tool. */
type InputSchema = JsonSchema & { type: 'object'; properties: JsonObject };

type Given = Readonly<Record<string, unknown>>;

/** The flat arguments of a tool, which REST takes from path, query and body. */
export class ToolArguments {
  /** What the operation accepts, in any keywords of JSON Schema. */
  readonly exactSchema: InputSchema;
  /** What a model sees: common keywords, and the arguments that only tools have. */
  readonly schema: InputSchema;
  readonly #sources = new Map<string, Source>();
  /** Where unknown arguments go, so that they are refused by name. */
  readonly #unknown: Source;
  readonly #operation: Operation;
  readonly #defaults: Readonly<Record<string, string | number>>;
  /** Arguments that are required though REST has a default for them. */
  readonly #requires: readonly string[];
  readonly #own: OwnArguments;

  /** @throws Error when two arguments have the same name */
  constructor(operation: Operation) {
    this.#operation = operation;
    const { params = {}, query, body, tool } = operation;
    const { defaults = {}, requires = [], cancels } = 'name' in tool ? tool : {};
    const isPaged = resultKindOf(operation) === 'paged';
    this.#defaults = isPaged ? { limit: TOOL_PAGE_SIZE, ...defaults } : defaults;
    this.#requires = requires;
    const properties: JsonObject = {};
    for (const [name, error] of Object.entries(params)) {
      this.#add(name, 'params');
      properties[name] = jsonSchemaOf(id().description(paramDescription(error)), 'input');
    }
    const required = Object.keys(params);
    const conditions: JsonSchema = {};
    for (const [source, joi] of [['query', query] as const, ['body', body] as const]) {
      if (!joi) continue;
      // The schema of an object has these.
      const schema = jsonSchemaOf(joi, 'input') as InputSchema & { required?: string[] };
      for (const name of Object.keys(schema.properties)) this.#add(name, source);
      Object.assign(properties, schema.properties);
      required.push(...(schema.required ?? []));
      Object.assign(conditions, schema);
    }
    for (const [name, value] of Object.entries(this.#defaults)) {
      Object.assign(properties[name] ?? {}, { default: value });
    }
    for (const name of requires) {
      const { default: _ofRest, ...schema } = properties[name] as JsonSchema;
      properties[name] = schema;
    }
    this.exactSchema = {
      ...conditions,
      type: 'object',
      properties,
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
    };
    this.#unknown = body ? 'body' : 'query';
    this.#own = new OwnArguments(operation, properties);
    for (const name of Object.keys(this.#own.properties)) this.#add(name, 'own');
    const needed = [...required.filter((name) => name !== cancels), ...requires];
    // An object of properties stays one.
    const common = inCommonKeywords(this.exactSchema) as InputSchema;
    this.schema = {
      type: 'object',
      properties: { ...common.properties, ...this.#own.properties },
      ...(needed.length > 0 ? { required: needed } : {}),
    };
  }

  /** The operation that a call chooses, and the arguments as its input, which it checks. */
  toCall(args: Given): { operation: Operation; input: CallInput } {
    const entries = Object.entries({ ...this.#defaults, ...this.#given(args) });
    const of = (source: Source): Record<string, unknown> =>
      Object.fromEntries(
        entries.filter(([name]) => (this.#sources.get(name) ?? this.#unknown) === source),
      );
    const body = of('body');
    const { operation, faults, emptied, page } = this.#own.read(of('own'), body);
    const input = {
      // Whatever else is refused like a text that is not a UUID.
      params: Object.fromEntries(
        Object.entries(of('params')).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : '',
        ]),
      ),
      query: of('query'),
      body: { ...emptied, ...body },
      faults: [...faults, ...this.#missing(body)],
      page,
    };
    return { operation, input };
  }

  /** The faults of the path parameters, for which REST responds that the record was not found. */
  idFaults(args: Given): string[] {
    return Object.keys(this.#operation.params ?? {}).flatMap((name) => {
      const value = givenOf(args[name], this.exactSchema.properties[name]);
      if (typeof value === 'string' && isUuid(value)) return [];
      return value === undefined ? `${name} is required.` : `${name} must be a UUID.`;
    });
  }

  #given(args: Given): Given {
    const properties = { ...this.exactSchema.properties, ...this.#own.properties };
    // An object stays one.
    return givenOf(args, { properties }) as Given;
  }

  #missing(body: Given): { field: string; what: string }[] {
    return this.#requires
      .filter((name) => !(name in body))
      .map((field) => {
        const { enum: values } = this.exactSchema.properties[field] as JsonSchema;
        const texts = [values].flat().filter((each) => typeof each === 'string');
        return { field, what: `is required: one of [${texts.join(', ')}]` };
      });
  }

  #add(name: string, source: Source): void {
    const other = this.#sources.get(name);
    if (other) throw new Error(`The argument ${name} is in both ${other} and ${source}.`);
    this.#sources.set(name, source);
  }
}

/** Every path parameter is the id of a record, whose kind its error names. */
function paramDescription({ code }: ErrorCode): string {
  return `Id of the ${code.replace(/_not_found$/, '').replaceAll('_', ' ')}`;
}
