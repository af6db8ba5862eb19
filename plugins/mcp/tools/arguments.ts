import type { ErrorCode } from '../../../src/core/errors';
import { isUuid } from '../../../src/core/ids';
import { isRecord } from '../../../src/core/values';
import { id } from '../../../src/fields/joi';
import { type JsonObject, type JsonSchema, jsonSchemaOf } from '../../../src/fields/json-schema';
import type { Operation } from '../../../src/plugins/operation';
import type { CallInput } from '../../../src/plugins/protocol-endpoint';
import { inCommonKeywords, orNull, takesNull } from './input-schemas';
import { listsOf } from './output-schemas';

/** How long an answer with lists may be, in UTF-16 code units: clients cut or refuse longer ones. */
const MAX_LENGTH = 60_000;

/** What only tools take. */
const CLEAR = 'clear';
const CANCEL = 'cancel';
const CURSOR = 'cursor';

/** Where an operation looks for a value, or that it is one of those. */
type Source = 'params' | 'query' | 'body' | typeof CLEAR | typeof CANCEL | typeof CURSOR;

/** The input schema of a tool. */
type InputSchema = JsonSchema & { type: 'object'; properties: JsonObject };

type Given = Readonly<Record<string, unknown>>;

/** The flat arguments of a tool, which REST takes from the path, the query and the body. */
export class ToolArguments {
  /** What the operation accepts, in all keywords of JSON Schema that this takes. */
  readonly exactSchema: InputSchema;
  /** What a model sees of it, with what only tools take. */
  readonly schema: InputSchema;
  readonly #sources = new Map<string, Source>();
  /** Where unknown arguments go, to be refused by their names. */
  readonly #unknown: Source;
  readonly #operation: Operation;
  readonly #defaults: Readonly<Record<string, string>>;
  /** The fields that can be emptied. */
  readonly #clearable: readonly string[];
  /** The field that is null by `cancel`. */
  readonly #cancels: string | undefined;
  readonly #isInParts: boolean;

  /** @throws Error when two of them would have the same name */
  constructor(operation: Operation) {
    this.#operation = operation;
    const { method, params = {}, query, body, tool } = operation;
    this.#defaults = ('name' in tool && tool.defaults) || {};
    this.#cancels = 'name' in tool ? tool.cancels : undefined;
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
    this.#unknown = body ? 'body' : 'query';
    this.#clearable =
      method === 'PATCH'
        ? Object.keys(properties).filter((name) => takesNull(properties[name]))
        : [];
    const lists = listsOf(operation);
    this.#isInParts = lists !== undefined;
    // An object of properties stays one.
    this.schema = inCommonKeywords(this.exactSchema) as InputSchema;
    const own = this.schema.properties;
    if (this.#clearable.length > 0) {
      this.#add(CLEAR, CLEAR);
      own[CLEAR] = clearSchema(this.#clearable);
    }
    if (lists === 'parts') {
      this.#add(CURSOR, CURSOR);
      own[CURSOR] = method === 'GET' ? { type: 'string' } : CURSOR_OF_WRITE;
    }
    if (this.#cancels !== undefined) {
      this.#add(CANCEL, CANCEL);
      own[CANCEL] = { type: 'boolean', description: `true instead of ${this.#cancels}` };
      this.schema['required'] = required.filter((name) => name !== this.#cancels);
    }
    const { required: needed = [] } = this.schema as { required?: readonly string[] };
    for (const [name, schema] of Object.entries(own)) {
      if (!needed.includes(name) && isRecord(schema)) own[name] = orNull(schema);
    }
  }

  /**
   * The arguments where the operation looks for them; it is the operation that checks them. Those that
   * are null were left out: many frameworks write so what a model did not give.
   */
  toInput(args: Given): CallInput {
    const entries = Object.entries({ ...this.#defaults, ...this.#given(args) });
    const of = (source: Source): Record<string, unknown> =>
      Object.fromEntries(
        entries.filter(([name]) => (this.#sources.get(name) ?? this.#unknown) === source),
      );
    const body = of('body');
    const { [CLEAR]: clear = [] } = of(CLEAR);
    const { [CANCEL]: cancel = false } = of(CANCEL);
    const { [CURSOR]: cursor } = of(CURSOR);
    const faults: { field: string; what: string }[] = [];
    const cleared = this.#isClear(clear) ? clear : [];
    if (clear !== cleared) {
      faults.push({
        field: CLEAR,
        what: `must be a list of some of ${this.#clearable.join(', ')}`,
      });
    }
    if (typeof cancel !== 'boolean') faults.push({ field: CANCEL, what: 'must be a boolean' });
    const canceled = cancel === true && this.#cancels !== undefined ? [this.#cancels] : [];
    const emptied = [...cleared, ...canceled];
    for (const field of emptied.filter((name) => name in body)) {
      const how = cancel === true ? CANCEL : CLEAR;
      faults.push({ field, what: `must not be given beside ${how}` });
    }
    if (cursor !== undefined && typeof cursor !== 'string') {
      faults.push({ field: CURSOR, what: 'must be a string' });
    }
    return {
      // An empty string is refused as any text that is not a UUID.
      params: Object.fromEntries(
        Object.entries(of('params')).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : '',
        ]),
      ),
      query: of('query'),
      body: { ...Object.fromEntries(emptied.map((name) => [name, null])), ...body },
      faults,
      part: this.#isInParts
        ? { maxLength: MAX_LENGTH, ...(typeof cursor === 'string' ? { cursor } : {}) }
        : undefined,
    };
  }

  /** What is wrong with the path parameters, which REST answers as records that are not there. */
  idFaults(args: Given): string[] {
    const given = this.#given(args);
    return Object.keys(this.#operation.params ?? {}).flatMap((name) => {
      const value = given[name];
      if (typeof value === 'string' && isUuid(value)) return [];
      return value === undefined ? `${name} is required.` : `${name} must be a UUID.`;
    });
  }

  /** Arguments that there are not stay, to be refused. */
  #given(args: Given): Given {
    return Object.fromEntries(
      Object.entries(args).filter(([name, value]) => value !== null || !this.#sources.has(name)),
    );
  }

  #isClear(given: unknown): given is string[] {
    if (!Array.isArray(given)) return false;
    return given.every((name: unknown) => this.#clearable.some((each) => each === name));
  }

  #add(name: string, source: Source): void {
    const other = this.#sources.get(name);
    if (other) throw new Error(`The argument ${name} would be both of ${other} and of ${source}.`);
    this.#sources.set(name, source);
  }
}

const CURSOR_OF_WRITE = { type: 'string', description: 'Lists the rest, and writes nothing' };

function clearSchema(names: readonly string[]): JsonSchema {
  const items = { type: 'string', enum: [...names] };
  return { type: 'array', items, description: 'Fields to empty' };
}

/** Every path parameter is the id of a record, and its error says of which. */
function paramDescription({ code }: ErrorCode): string {
  return `Id of the ${code.replace(/_not_found$/, '').replaceAll('_', ' ')}`;
}
