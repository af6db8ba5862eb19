import type Joi from 'joi';

import { type FieldFault, fieldErrors, MAX_DETAILS } from '../core/errors';

/** Names of unknown fields can be as long as a body. */
const MAX_QUOTED = 100;

/** The place of the fields that are validated. */
interface Place {
  /** The prefix of their names: `items[3].`. */
  path?: string;
  /** The line of a text. */
  line?: number;
}

/** Collects the faults of a body and query (docs/api.md, "Requests"). */
export class ValidationErrors {
  readonly #place: Place;
  readonly #max: number;
  readonly #listed: FieldFault[];
  readonly #fields: Set<string>;

  /** @param max how many are listed; the rest are only counted */
  constructor(max = MAX_DETAILS, place: Place = {}, of?: ValidationErrors) {
    this.#max = max;
    this.#place = place;
    this.#listed = of ? of.#listed : [];
    this.#fields = of ? of.#fields : new Set();
  }

  /** Adds faults of fields at a place to the same list. */
  at(place: Place): ValidationErrors {
    return new ValidationErrors(this.#max, place, this);
  }

  /** @param what completes a sentence about the field: "is not allowed" */
  add(field: string, what: string): void {
    this.#add(field, (name) => `${name === '' ? '""' : name} ${what}.`);
  }

  /** Adds a fault that Joi found. Its message names the field, and quotes no value. */
  addJoi({ type, context, message }: Joi.ValidationErrorItem): void {
    // The rule refers to another field, which has a fault.
    if (type === 'any.ref') return;
    // Of fields that exclude each other, the last one sent is at fault.
    const { peers, present } = (context ?? {}) as { peers?: string[]; present?: string[] }; // Joi's own.
    const field = type === 'object.missing' ? peers?.[0] : (present ?? peers)?.at(-1);
    const { path = '' } = this.#place;
    this.#add(field ?? context?.label ?? '', () => `${path}${message}.`);
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
    const { path = '', line } = this.#place;
    const key = `${line ?? ''} ${path}${field}`;
    if (this.#fields.has(key)) return;
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
