import { idText, type StoredId } from '../../src/core/ids';
import type { ChangedList, Stored } from '../../src/data/changes/changes';
import { deletionModel } from '../../src/data/changes/deletions';
import { type Tenant, LIVE, type ModelDefinition } from '../../src/data/model/models';
import { EVERYTHING } from '../../src/data/model/tracking';
import type { Host } from '../../src/plugins/host';
import { cursorExpired } from './cursor';
import { ChangedRecords, SOFTLY_DELETED } from './records';

/** The list of deletions in a response. */
export const DELETED = 'deleted';
/** The name of the source of deletions, which sorts before all others. */
export const FIRST = '/';

type Present = ChangedList['present'];

/** What a change means for a copy. */
interface Meaning {
  /** The keys of the record, and of the record with which it is deleted. */
  keys: readonly string[];
  /** The key of the record that it deletes. */
  deletes?: string;
  /** A changed record that others embed. */
  embedded?: StoredId;
}

/** A source of changes. */
export interface Source {
  /** Determines the order of its changes within a revision. */
  name: string;
  /** The list of a response that has its changes. */
  list: string;
  records: ChangedRecords;
  /** @throws ApiError cursor_expired if a copy has to start again */
  meaningOf: (document: Stored) => Meaning;
  /** The views of changes; undefined for records that are out of reach. */
  present: Present;
}

/**
 * All sources, in the order of their changes within a revision: deletions first, since a record that
 * exists although it was deleted was added again later; records before those that are part of them.
 */
export function sourcesOf(host: Host, lists: readonly ChangedList[]): Source[] {
  const embedded = new Set(lists.flatMap(({ embeds }) => embeds?.kind ?? []));
  const deletionRecords: ModelDefinition<object, 'account'> = deletionModel;
  const deletions: Source = {
    name: FIRST,
    list: DELETED,
    records: new ChangedRecords(host.model(deletionRecords)),
    meaningOf: (document) => {
      const { kind, id } = deletionOf(document);
      if (kind === EVERYTHING) throw cursorExpired.error();
      return {
        keys: [],
        deletes: recordKey(kind, id),
        ...(embedded.has(kind) && { embedded: id }),
      };
    },
    present: async (_scope, documents) =>
      documents.map(deletionOf).map(({ kind, id }) => ({ kind, id: idText(id) })),
  };
  const sources = lists.flatMap((list): Source[] => {
    const { kind, model, partOf } = list;
    if (!model) return [];
    const parent = lists.find((each) => each.model && each.kind === partOf?.kind);
    const reachable = new Reachable(list, parent?.model && recordsOf(host, parent, LIVE));
    const name = parent ? `/${parent.name}/${list.name}` : `/${list.name}`;
    const live: Source = {
      name,
      list: list.name,
      records: recordsOf(host, list, LIVE),
      meaningOf: (document) => ({
        keys: [
          recordKey(kind, document._id),
          ...(partOf ? [recordKey(partOf.kind, reachable.parentOf(document))] : []),
        ],
        ...(embedded.has(kind) && { embedded: document._id }),
      }),
      present: reachable.only(list.present),
    };
    if (!model.softlyDeleted) return [live];
    const deleted: Source = {
      name: `${name}/${DELETED}`,
      list: DELETED,
      records: recordsOf(host, { ...list, embeds: undefined }, SOFTLY_DELETED),
      meaningOf: () => ({ keys: [] }),
      present: reachable.only(async (_scope, documents) =>
        documents.map(({ _id }) => ({ kind, id: idText(_id) })),
      ),
    };
    return [live, deleted];
  });
  return [deletions, ...sources].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Filters the records of a list: those whose parent was deleted are out of reach. */
class Reachable {
  readonly #field: string;
  readonly #parents: ChangedRecords | undefined;

  constructor({ partOf }: ChangedList, parents: ChangedRecords | undefined) {
    this.#field = partOf?.field ?? '';
    this.#parents = parents;
  }

  /** The record that a record is part of. */
  parentOf(document: Stored): StoredId {
    return document[this.#field] as StoredId; // Plugins name a field with an id.
  }

  /** The same views, without records that are out of reach. */
  only(present: Present): Present {
    const parents = this.#parents;
    if (!parents) return present;
    return async (tenant: Tenant, documents) => {
      const existing = await parents.existing(
        tenant,
        documents.map((each) => this.parentOf(each)),
      );
      const isReachable = (each: Stored) => existing.has(idText(this.parentOf(each)));
      const views = (await present(tenant, documents.filter(isReachable))).values();
      return documents.map((each) => (isReachable(each) ? views.next().value : undefined));
    };
  }
}

/** The records of a list that exist, or those that are softly deleted. */
function recordsOf(
  host: Host,
  { model, embeds }: Pick<ChangedList, 'model'> & { embeds?: ChangedList['embeds'] | undefined },
  filter: object,
): ChangedRecords {
  if (!model) throw new Error('A list without a model has no records of its own.');
  return new ChangedRecords(host.model(model), model.softlyDeleted ? filter : {}, embeds?.field);
}

function deletionOf(document: Stored): { kind: string; id: StoredId } {
  const { kind, id } = document;
  return { kind: String(kind), id: id as StoredId }; // The type in `deletionModel`.
}

function recordKey(kind: string, id: StoredId): string {
  return `${kind} ${idText(id)}`;
}
