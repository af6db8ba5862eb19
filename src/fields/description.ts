import type Joi from 'joi';

/** What Joi knows of a schema, so far as it matters here. */
export interface Description {
  type: string;
  /** Whether numbers are taken that a double cannot distinguish from their neighbours. */
  isUnsafe: boolean;
  metas: readonly { jsonSchema?: object; schemaName?: string; shownAs?: Joi.Schema }[];
  examples: readonly unknown[];
  /** The schemas of an object's keys. */
  keys: ReadonlyMap<string, Joi.Schema>;
  /** Those of an array's items. */
  items: readonly Joi.Schema[];
  /** Those of which one is to match. */
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

/** The terms of a schema, which Joi's types leave open. */
interface Terms {
  metas?: Description['metas'] | null;
  examples?: readonly unknown[] | null;
  keys?: readonly { key: string; schema: Joi.Schema }[] | null;
  items?: readonly Joi.Schema[] | null;
  matches?: readonly { schema: Joi.Schema }[] | null;
  whens?: readonly When[] | null;
  dependencies?: readonly Dependency[] | null;
}

/**
 * What Joi knows of a schema. Its own `describe()` checks each description, and each part of it
 * again, against a schema of descriptions, which takes a hundred times as long.
 */
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

/** How many items a list may have; of what is no list, any number. */
export function maxItemsOf(schema: Joi.Schema): number {
  if (schema.type !== 'array') return Infinity;
  // Joi leaves open what the arguments of a rule are.
  const rule = schema.$_getRule('max') as { args?: { limit?: number } } | undefined;
  return rule?.args?.limit ?? Infinity;
}
