import Joi from 'joi';

import { JSON_VALIDATION } from '../../core/text/json';

export const name = Joi.string().pattern(/^[a-z][a-z0-9-]*$/, 'a lower-case name');
export const snakeName = Joi.string().pattern(/^[a-z][a-z0-9_]*$/, 'a snake_case name');
export const camelName = Joi.string().pattern(/^[a-z][A-Za-z0-9]*$/, 'a camelCase name');
export const sentence = Joi.string().min(3);

/** The message of the first fault in a value, if any. */
export function faultOf(schema: Joi.Schema, value: unknown): string | undefined {
  return schema.validate(value, JSON_VALIDATION).error?.message;
}

/** Names by kind. */
export type Claims = Readonly<Record<string, readonly string[] | undefined>>;

/** Returns a function that adds a fault for each name of a kind that two places claim. */
export function uniqueness(faults: string[]) {
  const owners = new Map<string, string>();
  return (place: string, claims: Claims): void => {
    for (const [kind, names = []] of Object.entries(claims)) {
      for (const key of names.map((each) => `${kind} ${each}`)) {
        const owner = owners.get(key);
        if (owner === undefined) owners.set(key, place);
        else faults.push(`${place}: the ${key} is already declared by ${owner}`);
      }
    }
  };
}
