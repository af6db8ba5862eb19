import type Joi from 'joi';

export interface Description {
  type: string;
  /** Whether unsafe integers are allowed. */
  isUnsafe: boolean;
  metas: readonly { jsonSchema?: object; schemaName?: string; shownAs?: Joi.Schema }[];
  examples: readonly unknown[];
  keys: ReadonlyMap<string, Joi.Schema>;
  items: readonly Joi.Schema[];
  matches: readonly Joi.Schema[];
  /** Rules that depend on another field. */
  whens: readonly When[];
  /** Rules on which keys of an object go together. */
  dependencies: readonly Dependency[];
}

export interface When {
  ref?: { path: readonly string[] };
  is?: Joi.Schema;
}

interface Dependency {
  /** The rule, by the name of Joi's method for it. */
  rel: string;
  peers: readonly { path: readonly string[] }[];
}

/** The terms of a schema, which Joi does not type. */
interface Terms {
  metas?: Description['metas'] | null;
  examples?: readonly unknown[] | null;
  keys?: readonly { key: string; schema: Joi.Schema }[] | null;
  items?: readonly Joi.Schema[] | null;
  matches?: readonly { schema: Joi.Schema }[] | null;
  whens?: readonly When[] | null;
  dependencies?: readonly Dependency[] | null;
}

/** Describes a schema. Joi's own `describe()` validates its result, which takes a hundred times as long. */
export function descriptionOf(schema: Joi.Schema): Description {
  const terms = schema.$_terms as Terms;
  return {
    type: schema.type ?? 'any',
    isUnsafe: schema.$_getFlag('unsafe') === true,
    metas: terms.metas ?? [],
    examples: terms.examples ?? [],
    keys: new Map(terms.keys?.map((each) => [each.key, each.schema])),
    items: terms.items ?? [],
    matches: terms.matches?.map((each) => each.schema) ?? [],
    whens: terms.whens ?? [],
    dependencies: terms.dependencies ?? [],
  };
}

/** The maximum number of items of a list; Infinity for other schemas. */
export function maxItemsOf(schema: Joi.Schema): number {
  if (schema.type !== 'array') return Infinity;
  // Joi does not type the arguments of a rule.
  const rule = schema.$_getRule('max') as { args?: { limit?: number } } | undefined;
  return rule?.args?.limit ?? Infinity;
}
