import Joi from 'joi';

import type {
  CreateBody,
  Document,
  Field,
  Fields,
  FieldType,
  Mode,
  PatchBody,
  Presence,
  Seed,
  SetOnCreate,
  View,
} from './field';
import { id, nullable, withFixed } from './joi';

type AnyField = Field<unknown, unknown, Presence, Mode>;
type Entry = [name: string, field: AnyField];

/** A Mongoose path. */
interface Path {
  type: unknown;
  required?: true;
}

/** What follows from the fields of a resource. */
export class RecordDefinition<F extends Fields> {
  readonly createBody: Joi.ObjectSchema<CreateBody<F>>;
  /** The body of a create in seeds, with an id. */
  readonly seed: Joi.ObjectSchema<Seed<F> & { id: string }>;
  readonly patchBody: Joi.ObjectSchema<PatchBody<F>>;
  /** The fields that cannot be changed, each with the reason. */
  readonly fixed: ReadonlyMap<string, string>;
  readonly view: Joi.ObjectSchema<View<F>>;
  /** The paths of its Mongoose schema. */
  readonly paths: Readonly<Record<string, Path>>;
  readonly #kept: readonly Entry[];
  readonly #shown: readonly { name: string; key: string; toValue: FieldType['toValue'] }[];

  constructor(readonly fields: F) {
    const entries = Object.entries(fields);
    this.#kept = entries.filter(([, { facts }]) => facts.mode !== 'writeOnly');
    const shown = this.#kept.filter(([, { facts }]) => facts.mode !== 'internal');
    this.#shown = shown.map(([name, { facts }]) => ({
      name,
      key: storedKey(name),
      toValue: facts.type.toValue,
    }));
    const onCreate = entries.filter(([, { facts }]) => !isSetByProgram(facts));
    const onPatch = onCreate.filter(([, { facts }]) => facts.mode !== 'createOnly');
    this.createBody = Joi.object(schemas(onCreate, onCreateSchema));
    this.seed = Joi.object({ id: id().required(), ...schemas(onCreate, seedSchema) });
    this.fixed = new Map(
      entries.flatMap(([name, { facts }]) =>
        facts.fixed === undefined ? [] : [[name, facts.fixed]],
      ),
    );
    this.patchBody = withFixed(Joi.object(schemas(onPatch, onPatchSchema)), this.fixed);
    this.view = Joi.object(schemas(shown, viewSchema));
    this.paths = Object.fromEntries(
      this.#kept.map(([name, each]) => [storedKey(name), path(each)]),
    );
  }

  /** Makes a new document. @param set the fields that the program sets, in stored form */
  toDocument(body: Seed<F>, set: SetOnCreate<F>): Document<F> {
    const given: Record<string, unknown> = { ...body };
    const own: Record<string, unknown> = { ...set };
    const document: Record<string, unknown> = {};
    for (const [name, { facts }] of this.#kept) {
      const key = storedKey(name);
      const value = given[name];
      if (isSetByProgram(facts)) document[key] = own[key] ?? facts.fallback ?? null;
      else document[key] = stored(facts, value ?? facts.fallback ?? null);
    }
    // The loop sets the fields from which the type is made.
    return document as Document<F>;
  }

  /** The changes of a PATCH, in stored form. */
  toChanges(body: PatchBody<F>): Partial<Document<F>> {
    const given: Record<string, unknown> = { ...body };
    const changes: Record<string, unknown> = {};
    for (const [name, { facts }] of this.#kept) {
      const value = given[name];
      if (value !== undefined) changes[name] = stored(facts, value);
    }
    // As in `toDocument`.
    return changes as Partial<Document<F>>;
  }

  /** Converts a document to its view; what documents of an earlier release lack is null. */
  toView(document: Document<F>): View<F> {
    // Not copied to a typed object: this runs for every item of every list.
    const values = document as Readonly<Record<string, unknown>>;
    const view: Record<string, unknown> = {};
    for (const { name, key, toValue } of this.#shown) {
      const value = values[key] ?? null;
      view[name] = toValue === undefined || value === null ? value : toValue(value);
    }
    // As in `toDocument`.
    return view as View<F>;
  }
}

/** Declares a resource by its fields. */
export function defineRecord<const F extends Fields>(fields: F): RecordDefinition<F> {
  return new RecordDefinition(fields);
}

function storedKey(name: string): string {
  return name === 'id' ? '_id' : name;
}

function stored({ type }: AnyField['facts'], value: unknown): unknown {
  return type.toStored && value !== null ? type.toStored(value) : value;
}

function schemas(
  entries: readonly Entry[],
  schemaOf: (facts: AnyField['facts']) => Joi.Schema,
): Record<string, Joi.Schema> {
  return Object.fromEntries(
    entries.map(([name, { facts }]) => {
      let schema = schemaOf(facts);
      if (facts.description !== undefined) schema = schema.description(facts.description);
      if (facts.example !== undefined) schema = schema.example(facts.example);
      return [name, schema];
    }),
  );
}

function onCreateSchema({ type, presence, fallback }: AnyField['facts']): Joi.Schema {
  if (presence === 'required') return type.input.required();
  return presence === 'defaulted' ? type.input.default(fallback) : type.input;
}

function seedSchema(facts: AnyField['facts']): Joi.Schema {
  const schema = onCreateSchema(facts);
  return isNullable(facts) ? nullable(schema) : schema;
}

function onPatchSchema({ type, presence }: AnyField['facts']): Joi.Schema {
  return presence === 'nullable' ? nullable(type.input) : type.input;
}

function viewSchema({ type, presence }: AnyField['facts']): Joi.Schema {
  return (isNullable({ presence }) ? nullable(type.output) : type.output).required();
}

function path({ facts: { type, presence } }: AnyField): Path {
  return isNullable({ presence }) ? { type: type.path } : { type: type.path, required: true };
}

function isSetByProgram({ mode }: AnyField['facts']): boolean {
  return mode === 'readOnly' || mode === 'internal';
}

function isNullable({ presence }: Pick<AnyField['facts'], 'presence'>): boolean {
  return presence === 'optional' || presence === 'nullable';
}
