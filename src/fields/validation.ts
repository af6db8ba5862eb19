import type Joi from 'joi';

import { prototypeKeyIn, JSON_VALIDATION } from '../core/text/json';
import { isRecord } from '../core/values';
import { type Description, descriptionOf, maxItemsOf } from './description';
import { whyNot } from './joi';
import { type FieldFault, fieldErrors, MAX_DETAILS } from '../core/errors';

/**
 * Validates an object, adds its faults to `errors`, and returns the validated value. Unknown fields
 * and long lists are found here, since Joi would check each of their thousands of names and items;
 * and so are keys that would change prototypes, since Joi copies objects.
 *
 * @param options.convert whether numbers and booleans are sent as text
 */
export function checked(
  schema: Joi.ObjectSchema,
  given: object,
  errors: ValidationErrors,
  { convert = false } = {},
): unknown {
  const { keys } = describe(schema);
  const known: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const key = keys.get(name);
    if (key === undefined) {
      unknown.push(name);
      continue;
    }
    const prototypeKey = prototypeKeyIn(value);
    if (prototypeKey !== undefined) errors.add(`${name}.${prototypeKey}`, 'is not allowed');
    known[name] = withoutLongLists(key, value, name, errors);
  }
  const result = schema.validate(known, { ...JSON_VALIDATION, convert, abortEarly: false });
  for (const fault of result.error?.details ?? []) errors.addJoi(fault);
  for (const name of unknown) errors.add(name, whyNot(schema, name));
  return result.value as unknown;
}

/** The value with its long lists cut, those within others too; each is a fault. */
function withoutLongLists(
  schema: Joi.Schema,
  value: unknown,
  name: string,
  errors: ValidationErrors,
): unknown {
  if (Array.isArray(value)) {
    const limit = maxItemsOf(schema);
    if (value.length > limit) errors.add(name, `must contain at most ${limit} items`);
    const [item] = describe(schema).items;
    const items = value.length > limit ? value.slice(0, limit) : value;
    if (item?.type !== 'object') return items;
    return items.map((each, at) => withoutLongLists(item, each, `${name}[${at}]`, errors));
  }
  if (!isRecord(value)) return value;
  const { keys } = describe(schema);
  const entries = Object.entries(value).map(([field, each]) => {
    const key = keys.get(field);
    const kept = key ? withoutLongLists(key, each, `${name}.${field}`, errors) : each;
    return [field, kept] as const;
  });
  return Object.fromEntries(entries);
}

const described = new WeakMap<Joi.Schema, Description>();

function describe(schema: Joi.Schema): Description {
  const known = described.get(schema) ?? descriptionOf(schema);
  described.set(schema, known);
  return known;
}

/** Names of unknown fields can be as long as a body. */
const MAX_QUOTED = 100;

/** Where the fields are that are validated. */
interface Position {
  /** The prefix of their names: `items[3].`. */
  path?: string;
  /** The line of a text. */
  line?: number;
}

/** How many faults are counted. */
const MAX_COUNTED = 1000;

/** Collects the faults of a body and query (docs/api.md, "Requests"). */
export class ValidationErrors {
  readonly #position: Position;
  readonly #max: number;
  readonly #listed: FieldFault[];
  readonly #fields: Set<string>;

  /** @param max how many are listed; the rest are only counted */
  constructor(max = MAX_DETAILS, position: Position = {}, of?: ValidationErrors) {
    this.#max = max;
    this.#position = position;
    this.#listed = of ? of.#listed : [];
    this.#fields = of ? of.#fields : new Set();
  }

  /** Adds faults of fields at a position to the same list. */
  at(position: Position): ValidationErrors {
    return new ValidationErrors(this.#max, position, this);
  }

  /** @param what completes a sentence about the field: "is not allowed" */
  add(field: string, what: string): void {
    this.#add(field, (name) => `${name === '' ? '""' : name} ${what}.`);
  }

  /** Adds a fault that Joi found. Its message names the field, and quotes no value. */
  addJoi({ type, context, message, path: within }: Joi.ValidationErrorItem): void {
    // The rule refers to another field, which has a fault.
    if (type === 'any.ref') return;
    // Of fields that exclude each other, the last one sent is at fault.
    const { peers, present } = (context ?? {}) as { peers?: string[]; present?: string[] }; // Joi's own.
    const field = type === 'object.missing' ? peers?.[0] : (present ?? peers)?.at(-1);
    const label = context?.label ?? '';
    const { path = '' } = this.#position;
    if (field === undefined) this.#add(label, () => `${path}${message}.`);
    else {
      // Such a rule is of the object with the fields, which its message does not name.
      const object = within.length > 0 ? `${label}.` : '';
      this.#add(`${object}${field}`, () => `${path}${object}${message}.`);
    }
  }

  /** Whether further faults are not even counted, so that looking for them is in vain. */
  get isFull(): boolean {
    return this.#fields.size === MAX_COUNTED;
  }

  /** The number of faults, including those that are not listed. */
  get count(): number {
    return this.#fields.size;
  }

  /** @throws ApiError validation_error if there are any faults */
  throwIfAny(): void {
    if (this.#listed.length > 0) throw fieldErrors(this.#listed, this.#fields.size);
  }

  /** Only the first fault of a field counts: a number in place of an enum value has two. */
  #add(field: string, messageFor: (name: string) => string): void {
    const { path = '', line } = this.#position;
    const key = `${line ?? ''} ${path}${field}`;
    if (this.isFull || this.#fields.has(key)) return;
    this.#fields.add(key);
    if (this.#listed.length === this.#max) return;
    const name = quoted(`${path}${field}`);
    this.#listed.push({
      field: name,
      message: messageFor(name),
      ...(line === undefined ? {} : { line }),
    });
  }
}

function quoted(name: string): string {
  const short = name.length > MAX_QUOTED ? `${name.slice(0, MAX_QUOTED)}…` : name;
  return short.toWellFormed();
}
