import Joi from 'joi';

import type { ChangedList } from '../../src/data/changes/changes';
import { id, integer, oneOf, named } from '../../src/fields/joi';

export interface ChangesQuery {
  since?: string;
  limit: number;
}

export const changesQuery = Joi.object<ChangesQuery, true>({
  since: Joi.string()
    .allow('')
    .description('nextCursor of an earlier response; by default everything is listed'),
  limit: integer(1, 500).default(200).description('Records per response, deletions included'),
});

/** Changes by list; `deleted` is to be applied last. */
export interface Changes {
  [list: string]: unknown;
  nextCursor: string;
  hasMore: boolean;
}

/** @param lists the lists that plugins contribute */
export function changesSchema(lists: readonly ChangedList[]) {
  const records = (view: Joi.Schema) => Joi.array().items(view).required();
  const kinds = [...new Set(lists.map(({ kind }) => kind))];
  const schema = Joi.object<Changes>({
    ...Object.fromEntries(
      lists.map(({ name, view, description }) => [name, records(view).description(description)]),
    ),
    deleted: records(
      Joi.object({ kind: oneOf(kinds).required(), id: id().required() }),
    ).description('Apply last. A deleted plant includes its events and schedules'),
    nextCursor: Joi.string().required().description('Opaque; send it as since next time'),
    hasMore: Joi.boolean().required().description('Whether there are more changes'),
  });
  return named('Changes', schema);
}
