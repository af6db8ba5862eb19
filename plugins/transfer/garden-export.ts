import { yieldToEventLoop } from '../../src/core/async';
import { idText } from '../../src/core/ids';
import { csvOf } from '../../src/core/text/csv';
import { jsonArray } from '../../src/core/text/json';
import type { Tenant } from '../../src/data/model/models';
import { descriptionOf } from '../../src/fields/description';
import type { Care, StoredSchedule } from '../care';
import { event, type EventDocument, type Events } from '../events';
import { type PhotoDocument, type Photos, photoViewOf } from '../photos';
import { archivedOf, plant, type PlantDocument, type Plants } from '../plants';
import type { Gardens } from './garden-import';
import { importedEvent, importedPhoto, importedSchedule, PLANT_FIELDS } from './schema';

const PHOTO_FIELDS = [...descriptionOf(importedPhoto).keys.keys()];
const SCHEDULE_FIELDS = [...descriptionOf(importedSchedule).keys.keys()];
const EVENT_FIELDS = [...descriptionOf(importedEvent).keys.keys()];
/** A table has no photos. */
const COLUMNS = PLANT_FIELDS.filter((field) => field !== 'primaryPhotoId');

/** Writes gardens a piece at a time. */
export class GardenExport {
  readonly #plants: Plants;
  readonly #photos: Photos;
  readonly #schedules: Care['schedules'];
  readonly #events: Events;

  constructor({ plants, photos, schedules, events }: Gardens) {
    this.#plants = plants;
    this.#photos = photos;
    this.#schedules = schedules;
    this.#events = events;
  }

  /** The plants as CSV, in the order of the list. */
  async *csv(tenant: Tenant): AsyncGenerator<string> {
    // Without the mark Excel takes it for the encoding of the country.
    yield `\ufeff${csvOf([COLUMNS])}`;
    for await (const batch of this.#plants.all(tenant)) {
      yield csvOf(batch.map(viewOf), { columns: COLUMNS });
      await yieldToEventLoop();
    }
  }

  /** The whole garden as JSON that can be imported. */
  async *json(tenant: Tenant): AsyncGenerator<string> {
    /** Events may name others, which were deleted. */
    const photoIds = await this.#photos.ids(tenant);
    const schedules = new Map<string, StoredSchedule[]>();
    for (const each of await this.#schedules.listAll(tenant)) {
      schedules.set(each.plantId, [...(schedules.get(each.plantId) ?? []), each]);
    }
    let separator = '{"plants":[';
    for await (const batch of this.#plants.all(tenant)) {
      for (const document of batch) {
        const id = idText(document._id);
        const fields = {
          ...some(viewOf(document), PLANT_FIELDS),
          schedules: (schedules.get(id) ?? []).map(scheduleOf),
        };
        yield `${separator}${JSON.stringify(fields).slice(0, -1)},"photos":`;
        yield* jsonArray(this.#photosOf(tenant, document._id));
        yield ',"events":';
        yield* jsonArray(this.#eventsOf(tenant, id, photoIds));
        separator = '},';
      }
    }
    yield `${separator === '},' ? '}]' : `${separator}]`},"photos":`;
    yield* jsonArray(this.#photosOf(tenant, null));
    yield '}';
  }

  async *#photosOf(tenant: Tenant, plantId: PhotoDocument['plantId']): AsyncGenerator<object[]> {
    for await (const batch of this.#photos.ofPlant(tenant, plantId)) yield batch.map(photoOf);
  }

  async *#eventsOf(
    tenant: Tenant,
    plantId: string,
    photoIds: ReadonlySet<string>,
  ): AsyncGenerator<object[]> {
    for await (const batch of this.#events.ofPlant(tenant, plantId)) {
      yield batch.map((each) => eventOf(each, photoIds));
    }
  }
}

type View = Readonly<Record<string, unknown>>;

function viewOf(document: PlantDocument): View {
  return { ...plant.toView(document), ...archivedOf(document) };
}

function photoOf(document: PhotoDocument): object {
  return some(photoViewOf(document), PHOTO_FIELDS);
}

function scheduleOf(view: StoredSchedule): object {
  return some({ ...view }, SCHEDULE_FIELDS);
}

function eventOf(document: EventDocument, known: ReadonlySet<string>): object {
  const shown = document.photos.map(({ photoId }) => idText(photoId));
  const photoIds = shown.filter((id) => known.has(id));
  return some(
    {
      ...event.toView(document),
      ...(document.scheduleId && { scheduleId: idText(document.scheduleId) }),
      ...(photoIds.length > 0 && { photoIds }),
    },
    EVENT_FIELDS,
  );
}

/** Those of some fields of a view that have a value. */
function some(view: View, fields: readonly string[]): object {
  return Object.fromEntries(fields.map((field) => [field, view[field] ?? undefined]));
}
