import { yieldToEventLoop } from '../../src/core/async';
import { type DatedMoment, laterOf, calendarOf } from '../../src/core/time';
import type { Account } from '../../src/core/identity';
import { idText, newId, type StoredId } from '../../src/core/ids';
import { chunksOf } from '../../src/core/values';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import { type Care, schedule, type ScheduleDocument } from '../care';
import { type EventDocument, type Events, laterCare, NEVER_CARED, newEvent } from '../events';
import { photo, type PhotoDocument, type Photos } from '../photos';
import { plant, type PlantDocument, type Plants } from '../plants';
import type { ImportedEvent, ImportedGarden, ImportedPhoto, PlantFields } from './schema';

/** Documents made per turn of the event loop, which takes a few milliseconds. */
const TURN = 250;
/** Events written to the database at once if there are very many. */
const BATCH = 10_000;

/** The stored form of a garden. */
interface Documents {
  plants: PlantDocument[];
  photos: PhotoDocument[];
  schedules: ScheduleDocument[];
  events: EventDocument[];
  /** Photos that the account already had, by the plants that show them. */
  shown: Map<string, string[]>;
}

/** The account into which a garden is imported, and when. */
type Importing = Pick<Transaction, 'userId' | 'account' | 'now'>;

/** The plugins whose records a garden consists of. */
export interface Gardens {
  plants: Plants;
  photos: Photos;
  schedules: Care['schedules'];
  events: Events;
}

/** The size of a garden. */
export interface Counts {
  plants: number;
  events: number;
}

/** The new plants of an import that lists them. */
export interface ImportedPlants extends Counts {
  items: { id: string; name: string }[];
}

export function countOf({ plants }: ImportedGarden): Counts {
  return { plants: plants.length, events: plants.flatMap(({ events }) => events).length };
}

/** Imports gardens into accounts: all of a garden or, if anything fails, nothing. */
export class GardenImport {
  readonly #host: Host;
  readonly #plants: Plants;
  readonly #photos: Photos;
  readonly #schedules: Care['schedules'];
  readonly #events: Events;

  constructor(host: Host, { plants, photos, schedules, events }: Gardens) {
    this.#host = host;
    this.#plants = plants;
    this.#photos = photos;
    this.#schedules = schedules;
    this.#events = events;
  }

  /** @throws ApiError photo_not_found (400), and the errors of limits of the tier */
  async insert(tx: Transaction, garden: ImportedGarden): Promise<Counts> {
    await this.#insert(tx, await documentsOf(tx, garden));
    return countOf(garden);
  }

  /** The same; also returns the new plants. @throws ApiError as {@link insert} */
  async insertPlants(tx: Transaction, garden: ImportedGarden): Promise<ImportedPlants> {
    const made = await documentsOf(tx, garden);
    await this.#insert(tx, made);
    const items = made.plants.map(({ _id, name }) => ({ id: idText(_id), name }));
    return { items, ...countOf(garden) };
  }

  async #insert(tx: Transaction, made: Documents): Promise<void> {
    const { plants, photos, schedules, events, shown } = made;
    for (const [plantId, ids] of shown) await this.#photos.showIn(tx, plantId, ids, 'plants');
    await this.#plants.insertBulk(tx, plants, { eventsFollow: true });
    await this.#photos.insertBulk(tx, photos);
    await this.#schedules.insertBulk(tx, schedules);
    await this.#events.insertWithPlants(tx, events);
  }

  /**
   * The same for a garden of any size. Very many events are written first, out of reach until their plants
   * exist; everything else is one transaction.
   *
   * @param onWritten receives the number of events of each batch written
   */
  async insertMany(
    account: Account,
    garden: ImportedGarden,
    onWritten: (count: number) => void,
  ): Promise<Counts> {
    const { id: userId } = account;
    if (countOf(garden).events <= BATCH) {
      return this.#host.transact(userId, (tx) => this.insert(tx, garden));
    }
    const made = await documentsOf({ userId, account, now: new Date() }, garden);
    try {
      for (const batch of chunksOf(made.events, BATCH)) {
        await this.#host.transact(userId, (tx) => this.#events.insertBulk(tx, batch));
        onWritten(batch.length);
      }
      await this.#host.transact(userId, async (tx) => {
        const plantIds = made.plants.map(({ _id }) => _id);
        if ((await this.#events.countOf(tx, plantIds)) !== made.events.length) {
          throw new Error('events were removed meanwhile, as by reconcile --repair; import again');
        }
        for (const [id, ids] of made.shown) await this.#photos.showIn(tx, id, ids, 'plants');
        await this.#plants.insertBulk(tx, made.plants);
        await this.#photos.insertBulk(tx, made.photos);
        await this.#schedules.insertBulk(tx, made.schedules);
        await this.#host.rebuildDerived(tx);
      });
    } catch (error) {
      // The first error matters more.
      await this.#discard(userId, made).catch(() => undefined);
      throw error;
    }
    return countOf(garden);
  }

  /** Deletes the events of an import that failed, so that they do not count. */
  async #discard(userId: string, { plants, events }: Documents): Promise<void> {
    const ids = plants.map(({ _id }) => _id);
    for (const batch of chunksOf(events, BATCH)) {
      await this.#host.transact(userId, async (tx) => {
        // The plants are there if only the confirmation was lost.
        if ((await this.#plants.existing(tx, ids)).size > 0) return;
        await this.#events.removeBulk(tx, batch);
      });
    }
  }
}

/** Its ids are new and ascend in the order of the garden, since lists fall back on them. */
async function documentsOf(tx: Importing, garden: ImportedGarden): Promise<Documents> {
  const { userId, now } = tx;
  const made: Documents = {
    plants: [],
    photos: [],
    schedules: [],
    events: [],
    shown: new Map(),
  };
  const owned = (_id: StoredId, { createdAt = now }: { createdAt?: Date }) => ({
    _id,
    userId,
    createdAt,
    updatedAt: now,
  });
  const newIds = new Map<string, string>();
  const addPhoto = (given: ImportedPhoto, plantId?: string): void => {
    const { id, cropX, cropY, cropWidth, cropHeight, ...fields } = given;
    const _id = newId();
    if (id !== undefined) newIds.set(id.toLowerCase(), idText(_id));
    const body = { ...fields, ...(plantId === undefined ? {} : { plantId }) };
    made.photos.push(
      photo.toDocument(body, {
        ...owned(_id, given),
        cropX: cropX ?? null,
        cropY: cropY ?? null,
        cropWidth: cropWidth ?? null,
        cropHeight: cropHeight ?? null,
      }),
    );
  };
  const plantIds = garden.plants.map(() => newId());
  for (const each of garden.photos) addPhoto(each);
  for (const [index, { photos }] of garden.plants.entries()) {
    for (const each of photos) addPhoto(each, idText(plantIds[index] ?? newId()));
  }
  for (const [index, { photos: _, schedules, events, ...fields }] of garden.plants.entries()) {
    const _id = plantIds[index] ?? newId();
    const plantId = idText(_id);
    const shown = new Set<string>();
    const photoIdOf = (given: string): string => {
      const own = newIds.get(given.toLowerCase());
      if (own === undefined) shown.add(given.toLowerCase());
      return own ?? given;
    };
    const newScheduleIds = new Map<string, StoredId>();
    const ownSchedules = schedules.map(({ id, createdAt, ...body }) => {
      const own = owned(newId(), { ...(createdAt && { createdAt }) });
      if (id !== undefined) newScheduleIds.set(id.toLowerCase(), own._id);
      const startOn = body.startOn ?? calendarOf(tx.account.timezone)(now);
      return schedule.toDocument({ ...body, startOn }, { ...own, plantId: _id });
    });
    let care = NEVER_CARED;
    /** The last event of each schedule, and of each type without a schedule. */
    const lasts = new Map<string, DatedMoment | null>();
    for (const given of events) {
      const event = eventOf(tx, plantId, given, photoIdOf);
      const scheduleId = newScheduleIds.get(given.scheduleId?.toLowerCase() ?? '');
      if (scheduleId) event.scheduleId = scheduleId;
      const moment = { at: event.occurredAt, on: event.occurredOn };
      care = laterCare(care, event.type, moment);
      const counted = scheduleId ? idText(scheduleId) : event.type;
      lasts.set(counted, laterOf(lasts.get(counted) ?? null, moment));
      if (made.events.push(event) % TURN === 0) await yieldToEventLoop();
    }
    for (const own of ownSchedules) {
      own.last = laterOf(lasts.get(idText(own._id)) ?? null, lasts.get(own.care) ?? null);
      if (made.schedules.push(own) % TURN === 0) await yieldToEventLoop();
    }
    const { primaryPhotoId: primary } = fields;
    const body = primary === undefined ? fields : { ...fields, primaryPhotoId: photoIdOf(primary) };
    const set = { ...owned(_id, fields), ...archived(fields, now), ...care };
    made.plants.push(plant.toDocument(body, set));
    if (shown.size > 0) made.shown.set(plantId, [...shown]);
  }
  return made;
}

function archived({ archivedAt, archiveReason }: PlantFields, now: Date) {
  if (archivedAt === undefined && archiveReason === undefined) return {};
  return { archivedAt: archivedAt ?? now, archiveReason: archiveReason ?? 'other' };
}

function eventOf(
  tx: Importing,
  plantId: string,
  { photoIds = [], createdAt, occurredOn, ...fields }: ImportedEvent,
  photoIdOf: (given: string) => string,
): EventDocument {
  const event = newEvent(tx, plantId, { ...fields, photoIds: photoIds.map(photoIdOf) });
  return {
    ...event,
    createdAt: createdAt ?? event.createdAt,
    occurredOn: occurredOn ?? event.occurredOn,
  };
}
