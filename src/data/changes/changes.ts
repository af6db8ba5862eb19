import type Joi from 'joi';

import type { StoredId } from '../../core/ids';
import { type Tenant, collectionOf, type ModelDefinition } from '../model/models';

/** A record of a tracked model, whichever it is. */
export type Stored = Readonly<Record<string, unknown>> & {
  _id: StoredId;
  /** The account's revision at its last change. */
  revision: number;
};

/** References from a record to others. */
interface Named {
  kind: string;
  /** The field with the id, or ids. */
  field: string;
}

/** A list of `GET /api/changes`. */
export interface ChangedList {
  name: string;
  /** The kind of its records in deletions (see `accountModel`). */
  kind: string;
  /** The model of its records. A list without one shows more about the records of another list. */
  model?: ModelDefinition<object, 'account'>;
  description: string;
  /** The schema of an item, without fields that change by time alone. */
  view: Joi.Schema;
  /** Other records that its records embed: a record is listed again when one that it embeds changes. */
  embeds?: Named;
  /** The parents of its records, which are deleted with their parent. */
  partOf?: Named;
  /** Converts records to items: one each, or any number if the list has no model. */
  present: (tenant: Tenant, documents: readonly Stored[]) => Promise<readonly unknown[]>;
}

/** How the records of a tracked model are shown: one by one, or together. */
type Shown<T> =
  | { toView: (document: T) => unknown }
  | { present: (tenant: Tenant, documents: readonly T[]) => Promise<readonly unknown[]> };

/**
 * Declares the list of a tracked model in `GET /api/changes`, named after its collection. A plugin
 * contributes one for each of its tracked models.
 *
 * @param list how they are shown; the definition of a record will do
 */
export function changedList<T extends object>(
  model: ModelDefinition<T, 'account'>,
  list: Pick<ChangedList, 'view' | 'embeds' | 'partOf'> & Shown<T>,
): ChangedList {
  const { view, embeds, partOf } = list;
  const name = collectionOf(model);
  // The documents are those of the model.
  const of = (documents: readonly Stored[]) => documents as readonly (Stored & T)[];
  return {
    name,
    kind: model.tracked ?? '',
    model,
    description: `New and changed ${name}`,
    view,
    ...(embeds && { embeds }),
    ...(partOf && { partOf }),
    present: async (tenant, documents) =>
      'toView' in list
        ? of(documents).map((each) => list.toView(each))
        : list.present(tenant, of(documents)),
  };
}
