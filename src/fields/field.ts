import type Joi from 'joi';

import { named } from './joi';

/** How a type of value is validated, stored and shown. */
export interface FieldType {
  /** The schema in requests. */
  input: Joi.Schema;
  /** The schema in responses, without limits, which may have been wider in earlier versions. */
  output: Joi.Schema;
  /** The type of the Mongoose path. */
  path: unknown;
  /** Converts a value to its stored form, if that differs. */
  toStored?: (value: unknown) => unknown;
  /** Converts a stored form to its value, if that differs. */
  toValue?: (stored: unknown) => unknown;
}

/**
 * `required` and `defaulted` fields always have a value; the latter may be omitted on create. `optional`
 * fields are null if omitted on create, and PATCH can also set `nullable` fields to null.
 */
export type Presence = 'required' | 'defaulted' | 'optional' | 'nullable';

/** Who sets a field, and whether it is shown. */
export type Mode = 'readWrite' | 'createOnly' | 'readOnly' | 'writeOnly' | 'internal';

interface Facts {
  type: FieldType;
  presence: Presence;
  mode: Mode;
  fallback?: Joi.BasicType;
  description?: string;
  /** Why no PATCH sets it. */
  fixed?: string;
  example?: string | number;
}

/**
 * A field of a resource. Bodies, view, document and their TypeScript types follow from it. Each method
 * returns a changed copy.
 */
export class Field<
  Value,
  Stored = Value,
  P extends Presence = 'required',
  M extends Mode = 'readWrite',
> {
  /** Never set: it carries the types. */
  declare readonly types?: { value: Value; stored: Stored; presence: P; mode: M };

  constructor(readonly facts: Facts) {}

  /** Null if omitted on create; PATCH cannot set it to null. */
  optional(): Field<Value, Stored, 'optional', M> {
    return new Field({ ...this.facts, presence: 'optional' });
  }

  /** Null if omitted on create; PATCH can set it to null. */
  nullable(): Field<Value, Stored, 'nullable', M> {
    return new Field({ ...this.facts, presence: 'nullable' });
  }

  /** Has this value if omitted on create. */
  default(value: Value & Joi.BasicType): Field<Value, Stored, 'defaulted', M> {
    return new Field({ ...this.facts, presence: 'defaulted', fallback: value });
  }

  /**
   * Set on create and never changed.
   *
   * @param instead what to do instead; completes "cannot be changed: "
   */
  createOnly(instead = 'it is set once'): Field<Value, Stored, P, 'createOnly'> {
    return new Field({ ...this.facts, mode: 'createOnly', fixed: instead });
  }

  /**
   * Set by the program.
   *
   * @param reason why; completes "cannot be changed: "
   */
  readOnly(reason = 'the service sets it'): Field<Value, Stored, P, 'readOnly'> {
    return new Field({ ...this.facts, mode: 'readOnly', fixed: reason });
  }

  /** Set by the program, and not shown. */
  internal(): Field<Value, Stored, P, 'internal'> {
    return new Field({ ...this.facts, mode: 'internal' });
  }

  /** Sent by callers, but neither stored nor shown as such. */
  writeOnly(): Field<Value, Stored, P, 'writeOnly'> {
    return new Field({ ...this.facts, mode: 'writeOnly' });
  }

  /** Sets the description in the OpenAPI document and the tools. */
  describe(description: string): Field<Value, Stored, P, M> {
    return new Field({ ...this.facts, description });
  }

  /** Names the type, so that the OpenAPI document describes it once. */
  named(name: string): Field<Value, Stored, P, M> {
    const { type } = this.facts;
    const [input, output] = [named(name, type.input), named(name, type.output)];
    return new Field({ ...this.facts, type: { ...type, input, output } });
  }

  /** Sets the example in the OpenAPI document. */
  example(example: Value & (string | number)): Field<Value, Stored, P, M> {
    return new Field({ ...this.facts, example });
  }
}

export type Fields = Readonly<Record<string, Field<unknown, unknown, Presence, Mode>>>;

type TypesOf<F> =
  F extends Field<infer V, infer S, infer P, infer M>
    ? { value: V; stored: S; presence: P; mode: M }
    : never;
type ValueOf<F> = TypesOf<F>['value'];
type StoredOf<F> = TypesOf<F>['stored'];

/** Names of the fields of some modes and presences. */
type Names<F extends Fields, M extends Mode, P extends Presence = Presence> = {
  [K in keyof F]: TypesOf<F[K]> extends { mode: M; presence: P } ? K : never;
}[keyof F];

type OnCreate = 'readWrite' | 'createOnly' | 'writeOnly';
type OnPatch = 'readWrite' | 'writeOnly';
type Shown = 'readWrite' | 'createOnly' | 'readOnly';
type Kept = Shown | 'internal';
type SetByProgram = 'readOnly' | 'internal';
type Always = 'required' | 'defaulted';
type Sometimes = 'optional' | 'nullable';

/** Expands an intersection, for readable compiler messages. */
type Simplify<T> = { [K in keyof T]: T[K] };

/** The validated body of a create. */
export type CreateBody<F extends Fields> = Simplify<
  { [K in Names<F, OnCreate, Always>]: ValueOf<F[K]> } & {
    [K in Names<F, OnCreate, Sometimes>]?: ValueOf<F[K]>;
  }
>;

/** The body of a create in seeds, where fields may be null instead of omitted. */
export type Seed<F extends Fields> = Simplify<
  { [K in Names<F, OnCreate, Always>]: ValueOf<F[K]> } & {
    [K in Names<F, OnCreate, Sometimes>]?: ValueOf<F[K]> | null;
  }
>;

/** The validated body of a PATCH. */
export type PatchBody<F extends Fields> = Simplify<
  { [K in Names<F, OnPatch, 'nullable'>]?: ValueOf<F[K]> | null } & {
    [K in Names<F, OnPatch, Exclude<Presence, 'nullable'>>]?: ValueOf<F[K]>;
  }
>;

/** A resource as it is shown. */
export type View<F extends Fields> = Simplify<
  { [K in Names<F, Shown, Always>]: ValueOf<F[K]> } & {
    [K in Names<F, Shown, Sometimes>]: ValueOf<F[K]> | null;
  }
>;

/** The key under which a field is stored. */
type StoredKey<K> = K extends 'id' ? '_id' : K;

/** A resource as it is stored. */
export type Document<F extends Fields> = Simplify<
  { [K in Names<F, Kept, Always> as StoredKey<K>]: StoredOf<F[K]> } & {
    [K in Names<F, Kept, Sometimes> as StoredKey<K>]: StoredOf<F[K]> | null;
  }
>;

/** The fields that the program sets on create, in stored form. */
export type SetOnCreate<F extends Fields> = Simplify<
  { [K in Names<F, SetByProgram, 'required'> as StoredKey<K>]: StoredOf<F[K]> } & {
    [K in Names<F, SetByProgram, Exclude<Presence, 'required'>> as StoredKey<K>]?: StoredOf<
      F[K]
    > | null;
  }
>;
