import type Joi from 'joi';

import { type FieldFault, fieldErrors, MAX_DETAILS } from '../core/errors';

/** Names are quoted as sent, and can be as long as a body. */
const MAX_QUOTED = 100;

/** Where in a body the fields are that are looked at. */
interface Place {
  /** What stands before their names: `items[3].`. */
  path?: string;
  /** The line of a text. */
  line?: number;
}

/** What is wrong with a body and query (docs/api.md, "Requests"). */
export class ValidationErrors {
  readonly #place: Place;
  readonly #max: number;
  readonly #listed: FieldFault[];
  readonly #fields: Set<string>;

  /** @param max how many are listed; the others are counted */
  constructor(max = MAX_DETAILS, place: Place = {}, of?: ValidationErrors) {
    this.#max = max;
    this.#place = place;
    this.#listed = of ? of.#listed : [];
    this.#fields = of ? of.#fields : new Set();
  }

  /** The same list, for the fields at a place. */
  at(place: Place): ValidationErrors {
    return new ValidationErrors(this.#max, place, this);
  }

  /** @param what reads on from the name of the field: "is not allowed" */
  add(field: string, what: string): void {
    this.#add(field, (name) => `${name === '' ? '""' : name} ${what}.`);
  }

  /** @param fault one whose message names the field already, and quotes nothing that was sent */
  addJoi({ type, context, message }: Joi.ValidationErrorItem): void {
    // It depends on another field that has a fault itself.
    if (type === 'any.ref') return;
    // Of several fields that exclude each other, the last that was given is the one that was added.
    const { peers, present } = (context ?? {}) as { peers?: string[]; present?: string[] }; // Joi's own.
    const field = type === 'object.missing' ? peers?.[0] : (present ?? peers)?.at(-1);
    const { path = '' } = this.#place;
    this.#add(field ?? context?.label ?? '', () => `${path}${message}.`);
  }

  /** How many there are, those included that are not listed. */
  get count(): number {
    return this.#fields.size;
  }

  /** @throws ApiError validation_error that lists them, if there are any */
  throwIfAny(): void {
    if (this.#listed.length > 0) throw fieldErrors(this.#listed, this.#fields.size);
  }

  /** Of a field the first fault is enough: a number where a word of a list belongs has two. */
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
