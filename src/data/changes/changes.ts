import type Joi from 'joi';

import { capitalized } from '../../core/text/text';
import type { StoredId } from '../../core/ids';
import { type Tenant, collectionOf, type ModelDefinition } from '../model/models';

/** A record of a tracked model, whichever it is. */
export type Stored = Readonly<Record<string, unknown>> & {
  _id: StoredId;
  /** The account's revision at its last change. */
  revision: number;
};

/** Other records that a record names. */
interface Named {
  kind: string;
  /** The field that has the id, or ids. */
  field: string;
}

/** A list of `GET /api/changes`. */
export interface ChangedList {
  name: string;
  /** What deletions call the records that it shows (see `accountModel`). */
  kind: string;
  /** Their model. A list without one shows more of the records of another list. */
  model?: ModelDefinition<object, 'account'>;
  description: string;
  /** How one of its items is shown: nothing that moves with time alone, of which no copy learns. */
  view: Joi.Schema;
  /** What records embed: they come again when it changes. */
  embeds?: Named;
  /** What stands for records when it is deleted. */
  partOf?: Named;
  /** Shows records: each in its order, or, where a list has no model, what it has to show of them. */
  present: (tenant: Tenant, documents: readonly Stored[]) => Promise<readonly unknown[]>;
}

/** How the records of a tracked model are shown: one by one, or many together. */
type Shown<T> =
  | { show: (document: T) => unknown }
  | { present: (tenant: Tenant, documents: readonly T[]) => Promise<readonly unknown[]> };

/**
 * The list of `GET /api/changes` that shows the records of a tracked model, under the name of its
 * collection. Each plugin contributes one for each of its tracked models.
 */
export function changedList<T extends object>(
  model: ModelDefinition<T, 'account'>,
  list: Pick<ChangedList, 'view' | 'embeds' | 'partOf'> & Shown<T>,
): ChangedList {
  const { view, embeds, partOf } = list;
  const name = collectionOf(model);
  // The documents of a list are those of its model.
  const of = (documents: readonly Stored[]) => documents as unknown as readonly T[];
  return {
    name,
    kind: model.tracked ?? '',
    model,
    description: `${capitalized(name)} that are new or changed`,
    view,
    ...(embeds && { embeds }),
    ...(partOf && { partOf }),
    present: async (tenant, documents) =>
      'show' in list
        ? of(documents).map((each) => list.show(each))
        : list.present(tenant, of(documents)),
  };
}
