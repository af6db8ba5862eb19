import type Joi from 'joi';

import { type FieldFault, fieldErrors, MAX_DETAILS } from '../core/errors';

/** Names are quoted as sent, and can be as long as a body. */
const MAX_QUOTED = 100;

/** What is wrong with a body and query (docs/api.md, "Requests"). */
export class ValidationErrors {
  readonly #listed: FieldFault[] = [];
  readonly #fields = new Set<string>();

  /** @param what reads on from the name of the field: "is not allowed" */
  add(field: string, what: string): void {
    this.#add(field, (name) => `${name === '' ? '""' : name} ${what}.`);
  }

  /** @param fault one whose message names the field already, and quotes nothing that was sent */
  addJoi({ type, context, message }: Joi.ValidationErrorItem): void {
    // It depends on another field that has a fault itself.
    if (type === 'any.ref') return;
    // Of several fields that need or exclude each other, the last is the one that was added.
    const peers = (context?.['peers'] ?? []) as string[]; // Joi's own list.
    const field = type === 'object.missing' ? peers[0] : peers.at(-1);
    this.#add(field ?? context?.label ?? '', () => `${message}.`);
  }

  /** @throws ApiError validation_error that lists them, if there are any */
  throwIfAny(): void {
    if (this.#listed.length > 0) throw fieldErrors(this.#listed, this.#fields.size);
  }

  /** Of a field the first fault is enough: a number where a word of a list belongs has two. */
  #add(field: string, messageFor: (name: string) => string): void {
    if (this.#fields.has(field)) return;
    this.#fields.add(field);
    if (this.#listed.length === MAX_DETAILS) return;
    const name = quoted(field);
    this.#listed.push({ field: name, message: messageFor(name) });
  }
}

function quoted(name: string): string {
  const short = name.length > MAX_QUOTED ? `${name.slice(0, MAX_QUOTED)}…` : name;
  return short.toWellFormed();
}
