import { yieldToEventLoop } from '../../src/core/async';
import type { Account, Author } from '../../src/core/identity';
import { copyId, idText, newId, type StoredId, toStoredId } from '../../src/core/ids';
import { calendarOf, type DatedMoment, laterOf } from '../../src/core/time';
import { fieldsOfKept, schedule, type ScheduleDocument } from '../care';
import { type EventDocument, laterCare, NEVER_CARED, newEvent } from '../events';
import { photo, type PhotoDocument } from '../photos';
import { plant, type PlantDocument } from '../plants';
import { type Known, NOTHING_KNOWN } from './known';
import type {
  ImportedEvent,
  ImportedGarden,
  ImportedPhoto,
  ImportedPlant,
  PlantFields,
} from './schema';

/** Documents made per turn of the event loop, which takes a few milliseconds. */
const TURN = 250;

/** The account into which a garden is imported, and when. */
interface Importing {
  userId: string;
  account: Account;
  now: Date;
  /** The member who imports it into the garden of another. */
  by?: Author | undefined;
}

/** The stored form of a garden, without what the account has already. */
export interface Documents {
  plants: PlantDocument[];
  photos: PhotoDocument[];
  schedules: ScheduleDocument[];
  events: EventDocument[];
  /** Photos that the account had before, by the plants that show them. */
  shown: Map<string, Set<string>>;
  /** Photos that an earlier import added, by the plants to which they belong. */
  kept: Map<string, StoredId[]>;
}

/**
 * Makes the documents of a garden. New ids ascend in its order, and those of copies in the order of the
 * export, since lists fall back on them.
 */
export async function documentsOf(
  importing: Importing,
  garden: ImportedGarden,
  known: Known = NOTHING_KNOWN,
): Promise<Documents> {
  const documents = new GardenDocuments(importing, garden.part !== undefined, known);
  const ids = garden.plants.map(({ id = '' }) => known.plants.get(id.toLowerCase()) ?? newId());
  for (const each of garden.photos) documents.addPhoto(each);
  for (const [index, { photos }] of garden.plants.entries()) {
    for (const each of photos) documents.addPhoto(each, ids[index]);
  }
  for (const [index, each] of garden.plants.entries()) {
    await documents.addPlant(each, ids[index] ?? newId());
  }
  return documents.made;
}

class GardenDocuments {
  readonly made: Documents = {
    plants: [],
    photos: [],
    schedules: [],
    events: [],
    shown: new Map(),
    kept: new Map(),
  };
  readonly #importing: Importing;
  readonly #isPart: boolean;
  readonly #known: Known;
  /** The new ids of photos by those in the body. */
  readonly #photoIds = new Map<string, string>();

  constructor(importing: Importing, isPart: boolean, known: Known) {
    this.#importing = importing;
    this.#isPart = isPart;
    this.#known = known;
  }

  addPhoto(given: ImportedPhoto, plant?: StoredId): void {
    const { id, cropX, cropY, cropWidth, cropHeight, ...fields } = given;
    const _id = this.#idOf(id, this.#importing.userId);
    const plantId = plant && idText(plant);
    if (id !== undefined) this.#photoIds.set(id.toLowerCase(), idText(_id));
    if (this.#known.photos.has(idText(_id))) {
      if (plantId === undefined) return;
      this.made.kept.set(plantId, [...(this.made.kept.get(plantId) ?? []), _id]);
      return;
    }
    const body = { ...fields, ...(plantId === undefined ? {} : { plantId }) };
    this.made.photos.push(
      photo.toDocument(body, {
        ...this.#owned(_id, given),
        cropX: cropX ?? null,
        cropY: cropY ?? null,
        cropWidth: cropWidth ?? null,
        cropHeight: cropHeight ?? null,
      }),
    );
  }

  /** Adds a plant with its schedules and events or, if it is there already, its new events. */
  async addPlant(given: ImportedPlant, _id: StoredId): Promise<void> {
    const { id, photos: _, schedules, snoozes = [], events, ...fields } = given;
    const { account, now } = this.#importing;
    const plantId = idText(_id);
    const isKnown = id !== undefined && this.#known.plants.has(id.toLowerCase());
    const own = new Map<string, ScheduleDocument>();
    const unnamed: ScheduleDocument[] = [];
    for (const { id: name, ...body } of schedules) {
      const set = this.#owned(this.#idOf(name, plantId), body);
      const startOn = body.startOn ?? calendarOf(account.timezone)(now);
      const made = schedule.toDocument({ ...body, startOn }, { ...set, plantId: _id });
      if (name === undefined) unnamed.push(made);
      else own.set(name.toLowerCase(), made);
    }
    const { primaryPhotoId: primary } = fields;
    const primaryPhotoId = primary === undefined ? null : this.#photoIdOf(primary, plantId);
    let care = NEVER_CARED;
    /** The last event of each schedule, and of each type without a schedule. */
    const lasts = new Map<string, DatedMoment | null>();
    for (const each of events) {
      const ofSchedule = own.get(each.scheduleId?.toLowerCase() ?? '')?._id;
      const event = this.#eventOf(plantId, each);
      if (this.#known.events.has(idText(event._id))) continue;
      // A schedule that was deleted since has no events any more.
      if (ofSchedule && (!isKnown || this.#known.schedules.has(idText(ofSchedule)))) {
        event.scheduleId = ofSchedule;
      }
      const moment = { at: event.occurredAt, on: event.occurredOn };
      care = laterCare(care, event.type, moment);
      const counted = event.scheduleId ? idText(event.scheduleId) : event.type;
      lasts.set(counted, laterOf(lasts.get(counted) ?? null, moment));
      if (this.made.events.push(event) % TURN === 0) await yieldToEventLoop();
    }
    if (isKnown) return;
    for (const made of [...own.values(), ...unnamed]) {
      made.last = laterOf(lasts.get(idText(made._id)) ?? null, lasts.get(made.care) ?? null);
      if (this.made.schedules.push(made) % TURN === 0) await yieldToEventLoop();
    }
    const set = { ...this.#owned(_id, fields), ...archived(fields, now), ...care };
    const document: PlantDocument = plant.toDocument({ ...fields, primaryPhotoId }, set);
    if (this.#isPart && id !== undefined) document.originalId = toStoredId(id);
    for (const each of snoozes) {
      const of = each.scheduleId === undefined ? document : own.get(each.scheduleId.toLowerCase());
      const acts = each.acts?.map((act) => ('rule' in act ? act : this.#asCopied(act)));
      if (of) Object.assign(of, fieldsOfKept({ ...each, ...(acts && { acts }) }));
    }
    this.made.plants.push(document);
  }

  #eventOf(plantId: string, given: ImportedEvent): EventDocument {
    const {
      id,
      photoIds = [],
      createdAt,
      updatedAt,
      occurredOn,
      scheduleId: _,
      ...fields
    } = this.#asCopied(given);
    const shown = photoIds.map((each) => this.#photoIdOf(each, plantId));
    const event = newEvent(this.#importing, plantId, { ...fields, photoIds: shown });
    return {
      ...event,
      ...(fields.by && { by: fields.by }),
      ...(id !== undefined && { _id: this.#idOf(id, plantId) }),
      createdAt: createdAt ?? event.createdAt,
      updatedAt: updatedAt ?? event.updatedAt,
      occurredOn: occurredOn ?? event.occurredOn,
    };
  }

  /** The member who imports it did it, or else who is named: an id is of another garden. */
  #asCopied<T extends { by?: Author }>({ by: given, ...rest }: T): Omit<T, 'by'> & { by?: Author } {
    const by = this.#importing.by ?? (given && { name: given.name });
    return by ? { ...rest, by } : rest;
  }

  /** The id of a photo that the plant or one of its events shows. */
  #photoIdOf(given: string, plantId: string): string {
    const own = this.#photoIds.get(given.toLowerCase());
    if (own !== undefined) return own;
    if (this.#isPart) return idText(copyId(given, this.#importing.userId));
    const shown = this.made.shown.get(plantId) ?? new Set();
    this.made.shown.set(plantId, shown.add(given.toLowerCase()));
    return given;
  }

  /** @param scope that within which a copy has the same id each time */
  #idOf(id: string | undefined, scope: string): StoredId {
    return this.#isPart && id !== undefined ? copyId(id, scope) : newId();
  }

  #owned(
    _id: StoredId,
    { createdAt, updatedAt }: Pick<ImportedPlant, 'createdAt' | 'updatedAt'>,
  ): Pick<PlantDocument, '_id' | 'userId' | 'createdAt' | 'updatedAt'> {
    const { userId, now } = this.#importing;
    return { _id, userId, createdAt: createdAt ?? now, updatedAt: updatedAt ?? now };
  }
}

function archived({ archivedAt, archiveReason }: PlantFields, now: Date) {
  if (archivedAt === undefined && archiveReason === undefined) return {};
  return { archivedAt: archivedAt ?? now, archiveReason: archiveReason ?? 'other' };
}
