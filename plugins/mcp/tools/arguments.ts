import type { ErrorCode } from '../../../src/core/errors';
import { isUuid } from '../../../src/core/ids';
import { isRecord } from '../../../src/core/values';
import { id } from '../../../src/fields/joi';
import { type JsonObject, type JsonSchema, jsonSchemaOf } from '../../../src/fields/json-schema';
import type { Operation } from '../../../src/plugins/operation';
import type { CallInput } from '../../../src/plugins/protocol-endpoint';
import { inCommonKeywords, orNull, takesNull } from './input-schemas';
import { listsOf } from './output-schemas';

/** How long a result with lists may be, in UTF-16 code units: clients cut or refuse longer ones. */
const MAX_LENGTH = 60_000;

/** Arguments that only tools have. */
const CLEAR = 'clear';
const CANCEL = 'cancel';
const CURSOR = 'cursor';

/** Where an operation takes an argument from, or that only tools have it. */
type Source = 'params' | 'query' | 'body' | typeof CLEAR | typeof CANCEL | typeof CURSOR;

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
  readonly #defaults: Readonly<Record<string, string>>;
  /** The fields that `clear` can empty. */
  readonly #clearable: readonly string[];
  /** The field that `cancel` sets to null. */
  readonly #cancels: string | undefined;
  readonly #isInParts: boolean;

  /** @throws Error when two arguments have the same name */
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
   * The arguments as input of the operation, which checks them. Null means left out: many frameworks
   * send it for arguments that a model did not give.
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
      faults.push({ field, what: `must not be given with ${how}` });
    }
    if (cursor !== undefined && typeof cursor !== 'string') {
      faults.push({ field: CURSOR, what: 'must be a string' });
    }
    return {
      // An empty string is refused like any other text that is not a UUID.
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

  /** The faults of the path parameters, for which REST responds that the record was not found. */
  idFaults(args: Given): string[] {
    const given = this.#given(args);
    return Object.keys(this.#operation.params ?? {}).flatMap((name) => {
      const value = given[name];
      if (typeof value === 'string' && isUuid(value)) return [];
      return value === undefined ? `${name} is required.` : `${name} must be a UUID.`;
    });
  }

  /** Unknown arguments stay, to be refused. */
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
    if (other) throw new Error(`The argument ${name} is in both ${other} and ${source}.`);
    this.#sources.set(name, source);
  }
}

const CURSOR_OF_WRITE = { type: 'string', description: 'Lists the rest, and writes nothing' };

function clearSchema(names: readonly string[]): JsonSchema {
  const items = { type: 'string', enum: [...names] };
  return { type: 'array', items, description: 'Fields to empty' };
}

/** Every path parameter is the id of a record, whose kind its error names. */
function paramDescription({ code }: ErrorCode): string {
  return `Id of the ${code.replace(/_not_found$/, '').replaceAll('_', ' ')}`;
}
