import { dayOf } from './days';
import type { AccountFacts, Answer, CareEvent, Fields, Made, Photo, Plant } from './records';

const NULLABLE = [
  'species',
  'location',
  'notes',
  'wateringFrequencyDays',
  'wateringNotes',
  'lightRequirement',
  'lightNotes',
  'soilType',
  'potType',
  'fertilizerType',
  'fertilizerFrequencyDays',
  'fertilizerNotes',
  'humidityPreference',
  'temperatureNotes',
  'careNotes',
];

const failure = (status: number, code: string): Answer => ({ status, code });
const noPlant = failure(404, 'plant_not_found');
const noEvent = failure(404, 'event_not_found');
const noPhoto = failure(404, 'photo_not_found');
const notYourPhoto = failure(400, 'photo_not_found');
const done: Answer = { status: 200, body: { success: true } };

/** The key that spellings of a location share; empty for no location. */
function placeOf(location: unknown): string {
  return (typeof location === 'string' ? location : '')
    .normalize('NFC')
    .split(/\s+/)
    .filter(Boolean)
    .join(' ');
}

/** An account in memory by the specification and docs/api.md, as simple as possible: everything is
 * derived on read. It gets valid requests only.
 */
export class Garden {
  readonly plants = new Map<string, Plant>();
  readonly events = new Map<string, CareEvent>();
  /** Deleted events of existing plants. */
  readonly deletedEvents = new Map<string, CareEvent>();
  /** By plant and type: the due day of a snooze, and when it was set. */
  readonly snoozes = new Map<string, { until: string; setAt: string }>();
  readonly photos = new Map<string, Photo>();

  constructor(readonly account: AccountFacts) {}

  createPlant(body: Fields, made: Made): Answer {
    if (this.plants.size >= this.account.maxPlants) return failure(403, 'plant_limit_reached');
    if (!this.#owns(body['primaryPhotoId'])) return notYourPhoto;
    const { primaryPhotoId = null, ...fields } = body;
    const plant: Plant = {
      id: made.id(),
      primaryPhotoId: primaryPhotoId as string | null, // The request is valid.
      fields: {
        ...Object.fromEntries(NULLABLE.map((name) => [name, null])),
        mossPoleNeeded: false,
        toxic: false,
        ...fields,
      },
      createdAt: made.at('createdAt'),
      updatedAt: made.at('updatedAt'),
    };
    this.plants.set(plant.id, plant);
    this.#show(plant.id, [plant.primaryPhotoId]);
    return { status: 201, body: this.plantView(plant) };
  }

  updatePlant(id: string, body: Fields, made: Made): Answer {
    const plant = this.plants.get(id);
    if (!plant) return noPlant;
    if (!this.#owns(body['primaryPhotoId'])) return notYourPhoto;
    const { primaryPhotoId, ...fields } = body;
    Object.assign(plant.fields, fields);
    if (fields['wateringFrequencyDays'] === null) this.snoozes.delete(`${id} watered`);
    if (fields['fertilizerFrequencyDays'] === null) this.snoozes.delete(`${id} fertilized`);
    if (primaryPhotoId !== undefined) plant.primaryPhotoId = primaryPhotoId as string | null; // Valid.
    if (primaryPhotoId !== undefined) this.#show(id, [plant.primaryPhotoId]);
    if (Object.keys(body).length > 0) plant.updatedAt = made.at('updatedAt');
    return { status: 200, body: this.plantView(plant) };
  }

  readPlant(id: string): Answer {
    const plant = this.plants.get(id);
    return plant ? { status: 200, body: this.plantView(plant) } : noPlant;
  }

  deletePlant(id: string): Answer {
    if (!this.plants.delete(id)) return noPlant;
    for (const events of [this.events, this.deletedEvents]) {
      for (const event of events.values()) if (event.plantId === id) events.delete(event.id);
    }
    for (const photo of this.photos.values()) if (photo.plantId === id) photo.plantId = null;
    return done;
  }

  listPlants(): Answer {
    return { status: 200, body: this.inOrder().map((plant) => this.plantView(plant)) };
  }

  locations(): Answer {
    const places = new Map<string, unknown>();
    for (const { fields } of this.inOrder()) {
      const place = placeOf(fields['location']);
      if (place !== '' && !places.has(place)) places.set(place, fields['location']);
    }
    return { status: 200, body: [...places.values()].sort() };
  }

  createEvent(plantId: string, body: Fields, made: Made): Answer {
    if (!this.plants.has(plantId)) return noPlant;
    // A valid request, so each field has the type of the specification.
    const { photoIds = [], ...facts } = body as { photoIds?: string[] } & Partial<CareEvent>;
    if (!photoIds.every((id) => this.photos.has(id))) return notYourPhoto;
    const occurredAt = moment(facts.occurredAt ?? made.at('occurredAt'));
    const event: CareEvent = {
      id: made.id(),
      plantId,
      type: facts.type ?? (body['isJournal'] === true ? 'journal' : 'watered'),
      text: facts.text ?? null,
      growthAmount: facts.growthAmount ?? null,
      growthUnit: facts.growthUnit ?? null,
      occurredAt,
      day: dayOf(occurredAt, this.account.timezone),
      createdAt: made.at('createdAt'),
      updatedAt: made.at('updatedAt'),
      photoIds,
    };
    this.events.set(event.id, event);
    this.#show(plantId, photoIds);
    return { status: 201, body: this.eventView(event) };
  }

  updateEvent(id: string, body: Fields, made: Made): Answer {
    const event = this.events.get(id);
    if (!event) return noEvent;
    const changes = body as Partial<CareEvent>; // A valid request.
    if (changes.photoIds?.every((photo) => this.photos.has(photo)) === false) return notYourPhoto;
    const before = event.occurredAt;
    Object.assign(event, changes);
    event.occurredAt = moment(event.occurredAt);
    if (event.occurredAt !== before) event.day = dayOf(event.occurredAt, this.account.timezone);
    this.#show(event.plantId, changes.photoIds ?? []);
    if (Object.keys(body).length > 0) event.updatedAt = made.at('updatedAt');
    return { status: 200, body: this.eventView(event) };
  }

  deleteEvent(id: string): Answer {
    return this.deleteEvents([id]).status === 200 ? done : noEvent;
  }

  deleteEvents(ids: readonly string[]): Answer {
    const found = ids.flatMap((id) => this.events.get(id) ?? []);
    if (found.length < ids.length) return failure(400, 'event_not_found');
    for (const event of found) {
      this.events.delete(event.id);
      this.deletedEvents.set(event.id, event);
    }
    return done;
  }

  restoreEvent(id: string): Answer {
    const event = this.events.get(id) ?? this.deletedEvents.get(id);
    if (!event) return noEvent;
    if (this.deletedEvents.delete(id)) this.#show(event.plantId, event.photoIds);
    this.events.set(id, event);
    return { status: 200, body: this.eventView(event) };
  }

  /** Logs the same care of several plants, each with the server's values for its event. */
  logCare(
    { plantIds, location, ...body }: Fields & { plantIds?: string[]; location?: string },
    madeOf: (index: number) => Made,
  ): Answer {
    if (plantIds?.every((id) => this.plants.has(id)) === false) {
      return failure(400, 'plant_not_found');
    }
    const plants = this.inOrder().filter((plant) =>
      plantIds
        ? plantIds.includes(plant.id)
        : placeOf(plant.fields['location']) === placeOf(location),
    );
    if (plants.length === 0) return failure(400, 'validation_error');
    const items = plants.map(({ id }, index) => this.createEvent(id, body, madeOf(index)));
    const failed = items.find((answer) => 'code' in answer);
    if (failed) return failed;
    return { status: 201, body: { items: items.map((item) => 'body' in item && item.body) } };
  }

  /** The complete list of a plant's events, which the pages must equal. */
  listEvents(plantId: string): Answer {
    if (!this.plants.has(plantId)) return noPlant;
    const listed = this.eventsOf(plantId).sort(
      (a, b) => order(b.occurredAt, a.occurredAt) || order(a.id, b.id),
    );
    return { status: 200, body: listed.map((event) => this.eventView(event)) };
  }

  month(plantId: string, monthStart: number, monthEnd: number): Answer {
    if (!this.account.isPro) return failure(403, 'feature_not_available');
    if (!this.plants.has(plantId)) return noPlant;
    const within = this.eventsOf(plantId).filter(({ occurredAt }) => {
      const at = Date.parse(occurredAt);
      return at >= monthStart && at <= monthEnd;
    });
    return { status: 200, body: within.map((event) => this.eventView(event)) };
  }

  createPhoto(body: Fields, made: Made): Answer {
    if (this.photos.size >= this.account.maxPhotos) return failure(403, 'photo_limit_reached');
    const { plantId = null } = body as { plantId?: string }; // A valid request.
    if (plantId !== null && !this.plants.has(plantId)) {
      return failure(400, 'plant_not_found');
    }
    const photo: Fields = {
      bytes: 0,
      cropX: null,
      cropY: null,
      cropWidth: null,
      cropHeight: null,
      takenAt: null,
      ...body,
      plantId,
      id: made.id(),
      userId: this.account.id,
      createdAt: made.at('createdAt'),
      updatedAt: made.at('updatedAt'),
    };
    this.photos.set(made.id(), photo as Photo); // The rest comes from a valid request.
    return { status: 201, body: { ...photo } };
  }

  readPhoto(id: string): Answer {
    const photo = this.photos.get(id);
    return photo ? { status: 200, body: { ...photo } } : noPhoto;
  }

  cropPhoto(
    id: string,
    crop: { x: number; y: number; width: number; height: number },
    made: Made,
  ): Answer {
    const photo = this.photos.get(id);
    if (!photo) return noPhoto;
    const { x, y, width, height } = crop;
    const isSquare = Math.abs(width - height) <= 2;
    const isInside = x + width <= photo.width && y + height <= photo.height;
    if (!isSquare || !isInside) return failure(400, 'invalid_crop');
    const cropped = { cropX: x, cropY: y, cropWidth: width, cropHeight: height };
    Object.assign(photo, cropped, { updatedAt: made.at('updatedAt') });
    return { status: 200, body: { ...photo } };
  }

  deletePhoto(id: string): Answer {
    if (!this.photos.delete(id)) return noPhoto;
    for (const plant of this.plants.values()) {
      if (plant.primaryPhotoId === id) plant.primaryPhotoId = null;
    }
    for (const event of [...this.events.values(), ...this.deletedEvents.values()]) {
      event.photoIds = event.photoIds.filter((photoId) => photoId !== id);
    }
    return done;
  }

  /** The plants in the order of their list. */
  inOrder(): Plant[] {
    return [...this.plants.values()].sort(
      (a, b) => order(a.createdAt, b.createdAt) || order(a.id, b.id),
    );
  }

  eventsOf(plantId: string): CareEvent[] {
    return [...this.events.values()].filter((event) => event.plantId === plantId);
  }

  plantView({ id, primaryPhotoId, fields, createdAt, updatedAt }: Plant): Fields {
    const events = this.eventsOf(id);
    const primaryPhoto = primaryPhotoId === null ? undefined : this.photos.get(primaryPhotoId);
    return {
      id,
      userId: this.account.id,
      primaryPhotoId,
      ...fields,
      createdAt,
      updatedAt,
      ...(primaryPhoto ? { primaryPhoto: { ...primaryPhoto } } : {}),
      lastWatered: latest(events.filter(({ type }) => type === 'watered'))?.occurredAt ?? null,
      lastEvent: latest(events)?.occurredAt ?? null,
    };
  }

  eventView({ photoIds, day: occurredOn, ...facts }: CareEvent): Fields {
    const photos = photoIds.map((id) => ({ ...this.photos.get(id) }));
    return { ...facts, occurredOn, userId: this.account.id, photos };
  }

  /** Assigns the photos that a plant shows and that have no plant. */
  #show(plantId: string, photoIds: readonly (string | null)[]): void {
    for (const id of photoIds) {
      const photo = id === null ? undefined : this.photos.get(id);
      if (photo) photo.plantId ??= plantId;
    }
  }

  /** Whether a valid reference is null or an existing photo. */
  #owns(photoId: unknown): boolean {
    return photoId === undefined || photoId === null || this.photos.has(photoId as string);
  }
}

/** The latest of some events; of those at one moment, the one with the latest day. */
export function latest(events: readonly CareEvent[]): CareEvent | undefined {
  return [...events].sort(byMoment).at(-1);
}

export function byMoment(a: CareEvent, b: CareEvent): number {
  return order(a.occurredAt, b.occurredAt) || order(a.day, b.day);
}

/** A date-time as it is returned: to the millisecond, in UTC. */
function moment(dateTime: string): string {
  return new Date(dateTime).toISOString();
}

export function order<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
