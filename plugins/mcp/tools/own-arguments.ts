import { isRecord } from '../../../src/core/values';
import { toolPageQuery } from '../../../src/fields/page';
import {
  type Json,
  type JsonObject,
  type JsonSchema,
  jsonSchemaOf,
} from '../../../src/fields/json-schema';
import type { Operation } from '../../../src/plugins/operation';
import type { CallInput } from '../../../src/plugins/protocol-endpoint';
import { inCommonKeywords } from './input-schemas';
import { MAX_LENGTH } from './lengths';
import { resultKindOf } from './output-schemas';

const VIEWS: readonly unknown[] = ['summary', 'full'];

type Given = Readonly<Record<string, unknown>>;

/** What the arguments that only tools have ask for. */
interface Wish extends Required<Pick<CallInput, 'faults'>>, Pick<CallInput, 'page'> {
  /** Which of the tool's operations to call. */
  operation: Operation;
  /** Fields of the body that are emptied. */
  emptied: Given;
}

/** The arguments that only tools have. */
export class OwnArguments {
  readonly properties: JsonObject = {};
  readonly #operation: Operation;
  /** The fields that `clear` can empty, each with its value then. */
  readonly #clearable: ReadonlyMap<string, null | []>;
  /** The field that `cancel` sets to null. */
  readonly #cancels: string | undefined;
  /** The operation of `view: full`. */
  readonly #full: Operation | undefined;
  readonly #isList: boolean;

  /** @param fields the schemas of the arguments that the operation takes */
  constructor(operation: Operation, fields: JsonObject) {
    const { method, tool } = operation;
    this.#operation = operation;
    this.#cancels = 'name' in tool ? tool.cancels : undefined;
    this.#full = 'name' in tool ? tool.full : undefined;
    this.#clearable = new Map(
      Object.entries(method === 'PATCH' ? fields : {}).flatMap(([name, schema]) => {
        const empty = emptyOf(schema);
        return empty === undefined ? [] : [[name, empty]];
      }),
    );
    const kind = resultKindOf(operation);
    this.#isList = kind === 'list' || kind === 'paged';
    const own = this.properties;
    if (this.#clearable.size > 0) own['clear'] = clearSchema([...this.#clearable.keys()]);
    if (kind === 'list') Object.assign(own, PAGE);
    if (this.#cancels !== undefined) {
      own['cancel'] = { type: 'boolean', description: `true instead of ${this.#cancels}` };
    }
    if (this.#full) own['view'] = VIEW;
  }

  /**
   * @param own the given arguments of these
   * @param body the given arguments that are fields of the body
   */
  read(own: Given, body: Given): Wish {
    const { clear = [], cancel = false, view = 'summary', ...query } = own;
    const faults: { field: string; what: string }[] = [];
    const cleared = [clear].flat();
    if (!cleared.every((name) => this.#isClearable(name))) {
      const what = `must be a list of some of ${[...this.#clearable.keys()].join(', ')}`;
      faults.push({ field: 'clear', what });
    }
    if (typeof cancel !== 'boolean') faults.push({ field: 'cancel', what: 'must be a boolean' });
    if (!VIEWS.includes(view)) {
      faults.push({ field: 'view', what: `must be one of [${VIEWS.join(', ')}]` });
    }
    const emptied: Record<string, unknown> = Object.fromEntries(
      [...this.#clearable].filter(([name]) => cleared.includes(name)),
    );
    if (cancel === true && this.#cancels !== undefined) emptied[this.#cancels] = null;
    for (const field of Object.keys(emptied).filter((name) => name in body)) {
      const how = field === this.#cancels ? 'cancel' : 'clear';
      faults.push({ field, what: `must not be given with ${how}` });
    }
    return {
      faults,
      emptied,
      operation: (view === 'full' ? this.#full : undefined) ?? this.#operation,
      page: this.#isList ? { maxLength: MAX_LENGTH, query } : undefined,
    };
  }

  #isClearable(name: unknown): boolean {
    return typeof name === 'string' && this.#clearable.has(name);
  }
}

const VIEW: JsonSchema = {
  type: 'string',
  enum: ['summary', 'full'],
  description: 'full: all fields; default summary',
};

const { properties: PAGE } = inCommonKeywords(jsonSchemaOf(toolPageQuery, 'input'));

function clearSchema(names: readonly string[]): JsonSchema {
  const items = { type: 'string', enum: [...names] };
  return { type: 'array', items, description: 'Fields to empty' };
}

/** The value of an empty field; undefined if it always has another. */
function emptyOf(schema: Json | undefined): null | [] | undefined {
  if (!isRecord(schema)) return undefined;
  const types = [schema['type']].flat();
  if (types.includes('null')) return null;
  return types.includes('array') && schema['minItems'] === undefined ? [] : undefined;
}
