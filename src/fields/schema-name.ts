import type Joi from 'joi';

import type { Description } from './description';

/** Names a schema, so that documents describe it once. */
export function named<S extends Joi.Schema>(name: string, schema: S): S {
  // Joi types `meta` of every schema as returning its own kind, but not generically.
  return schema.meta({ schemaName: name }) as S;
}

/** The name of a schema; the last one if it extends a named schema. */
export function nameOf({ metas }: Pick<Description, 'metas'>): string | undefined {
  return metas.findLast(({ schemaName }) => schemaName !== undefined)?.schemaName;
}
