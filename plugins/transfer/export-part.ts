import { MAX_EVENTS, MAX_KIB, MAX_PLANTS, type Part } from './schema';

/** A record of an export as JSON. Its photos and events follow a plant. */
export interface Entry {
  list: 'plants' | 'photos' | 'events';
  json: string;
}

/** More than the brackets, names and numbers around the records of a part take, in bytes. */
const FRAME = 100;
/** The same of a plant. */
const PLANT_FRAME = 30;

interface PlantText {
  fields: string;
  photos: string[];
  events: string[];
}

/** Records of an export, as many as one import takes. */
export class ExportPart {
  readonly #plants: PlantText[] = [];
  /** Those without a plant. */
  readonly #photos: string[] = [];
  #events = 0;
  #bytes = FRAME;

  /** Adds a record unless one import would not take it as well; a part takes at least one. */
  add({ list, json }: Entry): boolean {
    const bytes = Buffer.byteLength(json) + (list === 'plants' ? PLANT_FRAME : 1);
    const isFull =
      this.#bytes + bytes > MAX_KIB * 1024 ||
      (list === 'plants' && this.#plants.length === MAX_PLANTS) ||
      (list === 'events' && this.#events === MAX_EVENTS);
    if (isFull) return false;
    this.#bytes += bytes;
    const last = this.#plants.at(-1);
    if (list === 'plants') this.#plants.push({ fields: json, photos: [], events: [] });
    else (last ? last[list] : this.#photos).push(json);
    if (list === 'events') this.#events += 1;
    return true;
  }

  /** The part as JSON. */
  *pieces({ part, parts }: Part): Generator<string> {
    yield `{"part":${part},"parts":${parts},"photos":[${this.#photos.join()}],"plants":[`;
    let separator = '';
    for (const { fields, photos, events } of this.#plants) {
      yield `${separator}${fields.slice(0, -1)},"photos":[${photos.join()}],"events":[${events.join()}]}`;
      separator = ',';
    }
    yield ']}';
  }
}
