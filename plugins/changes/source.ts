import { idText, type StoredId } from '../../src/core/ids';
import { ChangedRecords, type Revised, type RevisionRange } from '../../src/data/changes';
import { type DeletionDocument, EVERYTHING, deletionModel } from '../../src/data/deletions';
import type { AccountScope } from '../../src/data/models';
import type { Host } from '../../src/plugins/host';
import type { Events } from '../events';
import type { Photos } from '../photos';
import { type Plants, type Snooze, snoozesOf } from '../plants';
import { cursorExpired } from './errors';
import type { Deleted } from './schema';

/** The list of an answer in which a change is shown. */
export type Field = 'plants' | 'events' | 'photos' | 'deleted';

/** A change, yet to be shown. */
export interface Change {
  revision: number;
  id: StoredId;
  /** Names the record, and what takes it along when it is deleted. */
  keys: readonly string[];
  /** Names the record that it deletes. */
  deletes?: string;
  /** A record that other records show, and that is another one now. */
  shownByOthers?: StoredId | undefined;
  /** Of a plant: its care that is snoozed. */
  snoozes?: readonly Snooze[];
  /** As its source has found it. */
  document: unknown;
}

/** Where changes are found. */
export interface Source {
  field: Field;
  after(scope: AccountScope, range: RevisionRange): Promise<Change[]>;
  /** Changes of records that show a record. */
  referringTo(scope: AccountScope, id: StoredId, range: RevisionRange): Promise<Change[]>;
  anyReferringTo(scope: AccountScope, ids: readonly StoredId[], before: number): Promise<boolean>;
  /** How its own changes are shown; undefined for what is out of reach. */
  present(scope: AccountScope, changes: readonly Change[]): Promise<unknown[]>;
}

export interface Dependencies {
  plants: Pick<Plants, 'changes'>;
  events: Pick<Events, 'changes'>;
  photos: Pick<Photos, 'changes'>;
}

/**
 * All sources, in the order in which their changes come within a revision. Deletions are the first:
 * what is there although it was deleted came back later.
 */
export function sourcesOf(host: Host, { plants, events, photos }: Dependencies): Source[] {
  const deletions = new ChangedRecords<DeletionDocument, Deleted>(host.records(deletionModel), {
    present: (_scope, documents) =>
      Promise.resolve(documents.map(({ kind, id }) => ({ kind, id: idText(id) }))),
  });
  return [
    source('deleted', deletions, ({ kind, id }) => {
      if (kind === EVERYTHING) throw cursorExpired.error();
      const deletes = keyOf(kind, id);
      return { keys: [], deletes, shownByOthers: kind === 'photo' ? id : undefined };
    }),
    source('plants', plants.changes, (plant) => ({
      keys: [keyOf('plant', plant._id)],
      snoozes: snoozesOf(plant),
    })),
    source('events', events.changes.live, ({ _id, plantId }) => ({
      keys: [keyOf('event', _id), keyOf('plant', plantId)],
    })),
    source('deleted', events.changes.deleted, () => ({ keys: [] })),
    source('photos', photos.changes, ({ _id }) => ({
      keys: [keyOf('photo', _id)],
      shownByOthers: _id,
    })),
  ];
}

function source<T extends object, View>(
  field: Field,
  records: ChangedRecords<T, View>,
  about: (document: T & Revised) => Pick<Change, 'keys' | 'deletes' | 'shownByOthers' | 'snoozes'>,
): Source {
  const asChange = (document: T & Revised): Change => ({
    revision: document.revision,
    id: document._id,
    document,
    ...about(document),
  });
  return {
    field,
    after: async (scope, range) => (await records.after(scope, range)).map(asChange),
    referringTo: async (scope, id, range) =>
      (await records.referringTo(scope, id, range)).map(asChange),
    anyReferringTo: (scope, ids, before) => records.anyReferringTo(scope, ids, before),
    present: (scope, changes) =>
      records.present(
        scope,
        // Only changes of this very source are given to it.
        changes.map(({ document }) => document as T & Revised),
      ),
  };
}

function keyOf(kind: string, id: StoredId): string {
  return `${kind} ${idText(id)}`;
}
