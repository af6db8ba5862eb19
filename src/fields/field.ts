import type Joi from 'joi';

import { named } from './schema-name';

/** How a kind of value is checked, stored and shown. */
export interface FieldType {
  /** What a caller may send. */
  input: Joi.Schema;
  /** What an answer may show: without the limits of input, which may have been wider once. */
  output: Joi.Schema;
  /** The type of the Mongoose path. */
  path: unknown;
  /** The stored form of a value, where it is another. */
  toStored?: (value: unknown) => unknown;
  /** The value of a stored form, where it is another. */
  toValue?: (stored: unknown) => unknown;
}

/**
 * Whether a field always has a value (`required`; `defaulted` where it may be left out on create),
 * may be null from the start (`optional`), or may also be set to null by PATCH (`nullable`).
 */
export type Presence = 'required' | 'defaulted' | 'optional' | 'nullable';

/** Whether callers set a field on create and PATCH, on create alone, or not; and whether it is shown. */
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
 * A field of a resource, said once: bodies, view, document and their TypeScript types follow from
 * it. Each method answers a changed copy.
 */
export class Field<
  Value,
  Stored = Value,
  P extends Presence = 'required',
  M extends Mode = 'readWrite',
> {
  /** Never there: they carry the types. */
  declare readonly types?: { value: Value; stored: Stored; presence: P; mode: M };

  constructor(readonly facts: Facts) {}

  /** May be left out on create, and is null then; PATCH cannot clear it. */
  optional(): Field<Value, Stored, 'optional', M> {
    return new Field({ ...this.facts, presence: 'optional' });
  }

  /** May be left out on create, and is null then; PATCH clears it with null. */
  nullable(): Field<Value, Stored, 'nullable', M> {
    return new Field({ ...this.facts, presence: 'nullable' });
  }

  /** May be left out on create, and has this value then. */
  default(value: Value & Joi.BasicType): Field<Value, Stored, 'defaulted', M> {
    return new Field({ ...this.facts, presence: 'defaulted', fallback: value });
  }

  /**
   * Set on create and never changed.
   *
   * @param instead what to do instead; reads on from "cannot be changed: "
   */
  createOnly(instead = 'it is set once'): Field<Value, Stored, P, 'createOnly'> {
    return new Field({ ...this.facts, mode: 'createOnly', fixed: instead });
  }

  /**
   * Set by the program alone.
   *
   * @param reason why; reads on from "cannot be changed: "
   */
  readOnly(reason = 'the service sets it'): Field<Value, Stored, P, 'readOnly'> {
    return new Field({ ...this.facts, mode: 'readOnly', fixed: reason });
  }

  /** Set by the program alone, and not shown. */
  internal(): Field<Value, Stored, P, 'internal'> {
    return new Field({ ...this.facts, mode: 'internal' });
  }

  /** Taken from callers, but neither stored nor shown as it is. */
  writeOnly(): Field<Value, Stored, P, 'writeOnly'> {
    return new Field({ ...this.facts, mode: 'writeOnly' });
  }

  /** Says what it means, for the OpenAPI document and the tools. */
  describe(description: string): Field<Value, Stored, P, M> {
    return new Field({ ...this.facts, description });
  }

  /** Names its kind of value, so that the OpenAPI document describes it once. */
  named(name: string): Field<Value, Stored, P, M> {
    const { type } = this.facts;
    const [input, output] = [named(name, type.input), named(name, type.output)];
    return new Field({ ...this.facts, type: { ...type, input, output } });
  }

  /** Gives a value for the examples of the OpenAPI document. */
  example(example: Value & (string | number)): Field<Value, Stored, P, M> {
    return new Field({ ...this.facts, example });
  }
}

/** The fields of a resource by their names. */
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

/** Spells an intersection out, for readable messages of the compiler. */
type Simplify<T> = { [K in keyof T]: T[K] };

/** What a caller sends to create a resource, after validation. */
export type CreateBody<F extends Fields> = Simplify<
  { [K in Names<F, OnCreate, Always>]: ValueOf<F[K]> } & {
    [K in Names<F, OnCreate, Sometimes>]?: ValueOf<F[K]>;
  }
>;

/** The same from seeds, where null may stand for what is left out. */
export type Seed<F extends Fields> = Simplify<
  { [K in Names<F, OnCreate, Always>]: ValueOf<F[K]> } & {
    [K in Names<F, OnCreate, Sometimes>]?: ValueOf<F[K]> | null;
  }
>;

/** What a caller sends to change a resource. */
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

/** What the program itself sets on create, in stored form. */
export type SetOnCreate<F extends Fields> = Simplify<
  { [K in Names<F, SetByProgram, 'required'> as StoredKey<K>]: StoredOf<F[K]> } & {
    [K in Names<F, SetByProgram, Exclude<Presence, 'required'>> as StoredKey<K>]?: StoredOf<
      F[K]
    > | null;
  }
>;
