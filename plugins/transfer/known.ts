import { copyId, idText, type StoredId, toStoredId } from '../../src/core/ids';
import type { Tenant } from '../../src/data/model/models';
import type { Care } from '../care';
import type { Events } from '../events';
import { type Photos, unknownPhoto } from '../photos';
import type { Plants } from '../plants';
import type { ImportedGarden } from './schema';

/** The plugins whose records a garden consists of. */
export interface Gardens {
  plants: Plants;
  photos: Photos;
  schedules: Care['schedules'];
  events: Events;
}

/** What an account has of an export already, by the text of ids. */
export interface Known {
  /** The plants by their ids in the export; all else has its id in the account. */
  plants: ReadonlyMap<string, StoredId>;
  schedules: ReadonlySet<string>;
  photos: ReadonlySet<string>;
  events: ReadonlySet<string>;
}

export const NOTHING_KNOWN: Known = {
  plants: new Map(),
  schedules: new Set(),
  photos: new Set(),
  events: new Set(),
};

/**
 * What an account has of a garden that is part of an export; of any other garden nothing.
 *
 * @throws ApiError photo_not_found if the last part names a photo that no part has
 */
export async function knownOf(
  tenant: Tenant,
  { plants, photos, part }: ImportedGarden,
  gardens: Gardens,
): Promise<Known> {
  if (!part) return NOTHING_KNOWN;
  const copies = await gardens.plants.copies(tenant, idsOf(plants).map(toStoredId));
  const events = plants.flatMap(({ id = '', events: given }) => {
    const copy = copies.get(id.toLowerCase());
    return copy ? idsOf(given).map((each) => copyId(each, idText(copy))) : [];
  });
  const schedules = await gardens.schedules.ofPlants(tenant, [...copies.values()]);
  const given = idsOf([...photos, ...plants.flatMap((each) => each.photos)]);
  const named = plants.flatMap(({ primaryPhotoId, events: all }) => [
    ...(primaryPhotoId === undefined ? [] : [primaryPhotoId]),
    ...all.flatMap(({ photoIds = [] }) => photoIds),
  ]);
  const photoIds = new Map(
    [...given, ...named].map((each) => [each.toLowerCase(), copyId(each, tenant.userId)]),
  );
  const found = await gardens.photos.byIds(tenant, [...photoIds.values()]);
  const isLast = part.part === part.parts;
  for (const each of given) photoIds.delete(each.toLowerCase());
  for (const [name, _id] of photoIds) {
    if (isLast && !found.has(idText(_id))) {
      throw unknownPhoto.error(`plants names a photo that no part of the export has: ${name}.`);
    }
  }
  return {
    plants: copies,
    schedules: new Set(schedules.map(({ _id }) => idText(_id))),
    photos: new Set(found.keys()),
    events: await gardens.events.existing(tenant, events),
  };
}

function idsOf(records: readonly { id?: string }[]): string[] {
  return records.flatMap(({ id }) => id ?? []);
}
