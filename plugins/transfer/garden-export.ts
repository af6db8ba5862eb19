import { LRUCache } from 'lru-cache';

import { yieldToEventLoop } from '../../src/core/async';
import { fieldError } from '../../src/core/errors';
import type { Account } from '../../src/core/identity';
import { idText } from '../../src/core/ids';
import { csvOf } from '../../src/core/text/csv';
import { groupBy } from '../../src/core/values';
import type { Tenant } from '../../src/data/model/models';
import { descriptionOf } from '../../src/fields/description';
import { keptSnoozesOf, schedule, type ScheduleDocument } from '../care';
import { event, type EventDocument } from '../events';
import { type PhotoDocument, photoViewOf } from '../photos';
import { archivedOf, plant, type PlantDocument } from '../plants';
import { type Entry, ExportPart } from './export-part';
import type { Gardens } from './known';
import {
  importedEvent,
  importedFields,
  importedPhoto,
  importedSchedule,
  plantFields,
} from './schema';

const PLANT_FIELDS = [...descriptionOf(importedFields).keys.keys()];
const PHOTO_FIELDS = [...descriptionOf(importedPhoto).keys.keys()];
const SCHEDULE_FIELDS = [...descriptionOf(importedSchedule).keys.keys()];
const EVENT_FIELDS = [...descriptionOf(importedEvent).keys.keys()];
/** A table has no photos. */
const COLUMNS = [...descriptionOf(plantFields).keys.keys()].filter(
  (field) => field !== 'primaryPhotoId',
);

/** Where a part begins: how many records come before it. Photos without a plant are those of plant 0. */
interface Start {
  plants: number;
  photos: number;
  events: number;
}

const FIRST: Start = { plants: 0, photos: 0, events: 0 };

/** The most accounts whose parts are remembered. */
const MAX_REMEMBERED = 100;

/** What an export reads of the plugins whose records a garden consists of. */
interface Exported {
  plants: Pick<Gardens['plants'], 'all'>;
  photos: Pick<Gardens['photos'], 'ids' | 'ofPlant'>;
  schedules: Pick<Gardens['schedules'], 'ofPlants'>;
  events: Pick<Gardens['events'], 'ofPlant'>;
}

/** Writes gardens a piece at a time. */
export class GardenExport {
  readonly #gardens: Exported;
  /** The starts of the parts by account and revision: to find them, the whole garden is read. */
  readonly #starts = new LRUCache<string, readonly Start[]>({ max: MAX_REMEMBERED });

  constructor(gardens: Exported) {
    this.#gardens = gardens;
  }

  /** The plants as CSV, in the order of the list. */
  async *csv(tenant: Tenant): AsyncGenerator<string> {
    // Without the mark Excel takes it for the encoding of the country.
    yield `\ufeff${csvOf([COLUMNS])}`;
    for await (const batch of this.#gardens.plants.all(tenant)) {
      yield csvOf(batch.map(viewOf), { columns: COLUMNS });
      await yieldToEventLoop();
    }
  }

  /**
   * A part of the garden as JSON, as much as one import takes.
   *
   * @throws ApiError validation_error if there are fewer parts
   */
  async *json(
    tenant: Tenant,
    { id, createdAt, revision }: Account,
    wanted: number,
  ): AsyncGenerator<string> {
    const key = [id, createdAt.getTime(), revision].join();
    const known = this.#starts.get(key);
    const starts = [...(known ?? [FIRST])];
    const from = known ? known[wanted - 1] : FIRST;
    let number = known ? wanted : 1;
    let part = new ExportPart();
    let found = number === wanted ? part : undefined;
    let plantEntry: Entry | undefined;
    for await (const { entry, start } of from ? this.#entries(tenant, from) : []) {
      if (entry.list === 'plants') plantEntry = entry;
      if (part.add(entry)) continue;
      if (known) break;
      starts.push(start);
      number += 1;
      part = new ExportPart();
      if (number === wanted) found = part;
      if (plantEntry && plantEntry !== entry) part.add(plantEntry);
      part.add(entry);
    }
    this.#starts.set(key, starts);
    const parts = starts.length;
    if (!from || !found) throw fieldError('part', `part must be at most ${parts}.`);
    yield* found.pieces({ part: wanted, parts });
  }

  /** The records of a garden from a start on, each with the start of a part that begins with it. */
  async *#entries(tenant: Tenant, from: Start): AsyncGenerator<{ entry: Entry; start: Start }> {
    const { plants, photos, schedules, events } = this.#gardens;
    let start = from;
    async function* entries(list: 'photos' | 'events', batches: AsyncIterable<object[]>) {
      for await (const batch of batches) {
        for (const each of batch) {
          yield { entry: { list, json: JSON.stringify(each) }, start };
          start = { ...start, [list]: start[list] + 1 };
        }
        await yieldToEventLoop();
      }
    }
    /** Events may name others, which were deleted. */
    const photoIds = await photos.ids(tenant);
    if (start.plants === 0) {
      yield* entries('photos', mapped(photos.ofPlant(tenant, null, start.photos), photoOf));
      start = { ...FIRST, plants: 1 };
    }
    for await (const batch of plants.all(tenant, start.plants - 1)) {
      const plantIds = batch.map(({ _id }) => _id);
      const found = await schedules.ofPlants(tenant, plantIds);
      const ofPlant = groupBy(found, ({ plantId }) => idText(plantId));
      for (const document of batch) {
        const { _id } = document;
        const fields = plantOf(document, ofPlant.get(idText(_id)) ?? []);
        yield { entry: { list: 'plants', json: JSON.stringify(fields) }, start };
        yield* entries('photos', mapped(photos.ofPlant(tenant, _id, start.photos), photoOf));
        const ofIt = events.ofPlant(tenant, idText(_id), start.events);
        yield* entries(
          'events',
          mapped(ofIt, (each) => eventOf(each, photoIds)),
        );
        start = { ...FIRST, plants: start.plants + 1 };
      }
    }
  }
}

async function* mapped<T>(batches: AsyncIterable<T[]>, map: (item: T) => object) {
  for await (const batch of batches) yield batch.map(map);
}

type View = Readonly<Record<string, unknown>>;

function viewOf(document: PlantDocument): View {
  return { ...plant.toView(document), ...archivedOf(document) };
}

function photoOf(document: PhotoDocument): object {
  return some(photoViewOf(document), PHOTO_FIELDS);
}

function plantOf(document: PlantDocument, schedules: readonly ScheduleDocument[]): object {
  const snoozes = keptSnoozesOf(document, schedules);
  return {
    ...some(viewOf(document), PLANT_FIELDS),
    schedules: schedules.map((each) => some(schedule.toView(each), SCHEDULE_FIELDS)),
    ...(snoozes.length > 0 && { snoozes }),
  };
}

function eventOf(document: EventDocument, known: ReadonlySet<string>): object {
  const shown = document.photos.map(({ photoId }) => idText(photoId));
  const photoIds = shown.filter((id) => known.has(id));
  return some(
    {
      ...event.toView(document),
      ...(document.scheduleId && { scheduleId: idText(document.scheduleId) }),
      ...(photoIds.length > 0 && { photoIds }),
      by: document.by,
    },
    EVENT_FIELDS,
  );
}

/** Those of some fields of a view that have a value. */
function some(view: View, fields: readonly string[]): object {
  return Object.fromEntries(fields.map((field) => [field, view[field] ?? undefined]));
}
