import type Joi from 'joi';

import type { Description } from './description';

/** A schema under a name of its own, by which documents refer to it. */
export function named<S extends Joi.Schema>(name: string, schema: S): S {
  // Joi types `meta` of every schema as returning its own kind, but not generically.
  return schema.meta({ schemaName: name }) as S;
}

/** The name of a schema; of one that extends another, the last that was given. */
export function nameOf({ metas }: Pick<Description, 'metas'>): string | undefined {
  return metas.findLast(({ schemaName }) => schemaName !== undefined)?.schemaName;
}
