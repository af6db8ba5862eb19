import type Joi from 'joi';

import type { Account } from '../../src/core/identity';
import { yieldToEventLoop } from '../../src/core/async';
import { dayNumber } from '../../src/core/time';
import { isRecord } from '../../src/core/values';
import { checked, type ValidationErrors } from '../../src/fields/validation';
import { keptSnooze, type KeptSnooze, MAX_SCHEDULES, MAX_SNOOZES } from '../care';
import { cropFault } from '../photos';
import { LastCareEvents } from './last-care';
import { addRuleFaults } from './rule-faults';
import {
  type Crop,
  type ImportedEvent,
  importedEvent,
  importedFields,
  type ImportedPhoto,
  importedPhoto,
  type ImportedPlant,
  type ImportedSchedule,
  importedSchedule,
  type LastCare,
  type Part,
  type PlantFields,
  rowFields,
} from './schema';
import { rowsOf } from './table';

/** The lists of records of a plant. */
type Lists = 'photos' | 'schedules' | 'snoozes' | 'events';

/** Objects checked per turn of the event loop, which takes a few milliseconds. */
const TURN = 50;

/** Checks the records of a garden, a piece at a time, and adds their faults to `errors`. */
export class GardenCheck {
  readonly #errors: ValidationErrors;
  readonly #today: string;
  readonly #isPart: boolean;
  readonly #plantIds = new Set<string>();
  readonly #photoIds = new Set<string>();
  #checked = 0;

  /** @param today the first day of schedules without one */
  constructor(errors: ValidationErrors, today: string, part: Part | undefined) {
    this.#isPart = part !== undefined;
    this.#errors = errors;
    this.#today = today;
  }

  async table(
    csv: string,
    table: Parameters<typeof rowsOf>[1],
    account: Account,
    maxPlants: number,
  ): Promise<ImportedPlant[]> {
    const plants: ImportedPlant[] = [];
    const care = new LastCareEvents(account.timezone, new Date());
    for await (const { line, fields } of rowsOf(csv, table, this.#errors, account)) {
      if (plants.length === maxPlants) {
        this.#errors.at({ line }).add('csv', `must have at most ${maxPlants} plants`);
        break;
      }
      const errors = this.#errors.at({ line });
      const row = await this.#object<PlantFields & LastCare>(rowFields, fields, errors, true);
      plants.push({ ...care.withEvents(row, errors), photos: [], schedules: [] });
    }
    return plants;
  }

  plants(given: readonly unknown[]): Promise<ImportedPlant[]> {
    return this.#each('plants', given, async (plant, path) => {
      const { photos, schedules, snoozes, events, ...given } = plant;
      const errors = this.#errors.at({ path });
      const ids = new Set<string>();
      const eventIds = new Set<string>();
      const fields = await this.#object<Omit<ImportedPlant, Lists>>(importedFields, given, errors);
      this.#requireNew(fields.id, this.#plantIds, errors, 'plant');
      return {
        ...fields,
        photos: await this.photos(path, photos),
        schedules: await this.#schedules(path, schedules, ids),
        snoozes: await this.#snoozes(path, snoozes, ids),
        events: await this.#each(`${path}events`, events, async (item, place) => {
          const ofEvent = this.#errors.at({ path: place });
          const event = await this.#event(item, ofEvent, ids);
          this.#requireNew(event.id, eventIds, ofEvent, 'event');
          return event;
        }),
      };
    });
  }

  photos(path: string, given: unknown): Promise<ImportedPhoto[]> {
    return this.#each(`${path}photos`, given, (photo, place) =>
      this.#photo(photo, this.#errors.at({ path: place })),
    );
  }

  async #photo(given: object, errors: ValidationErrors): Promise<ImportedPhoto> {
    const photo = await this.#object<ImportedPhoto>(importedPhoto, given, errors);
    const { id, cropX: x, cropY: y, cropWidth: width, cropHeight: height } = photo;
    this.#requireNew(id, this.#photoIds, errors, 'photo');
    const crop = [x, y, width, height];
    if (crop.every((each) => each === undefined)) return photo;
    if (crop.includes(undefined))
      errors.add('cropX', 'is allowed only with cropY, cropWidth and cropHeight');
    // Missing ones are a fault already.
    const { cropX, cropY, cropWidth, cropHeight } = photo as ImportedPhoto & Crop;
    const square = { x: cropX, y: cropY, width: cropWidth, height: cropHeight };
    if (cropFault(photo, square) !== undefined) {
      errors.add('cropX', 'and the other crop fields must be a square within the image');
    }
    return photo;
  }

  /** @param ids receives the ids of the schedules */
  async #schedules(path: string, given: unknown, ids: Set<string>): Promise<ImportedSchedule[]> {
    const check = async (item: object, place: string): Promise<ImportedSchedule> => {
      const errors = this.#errors.at({ path: place });
      const before = errors.count;
      const found = await this.#object<ImportedSchedule>(importedSchedule, item, errors);
      const isValid = errors.count === before;
      this.#requireNew(found.id, ids, errors, 'schedule');
      if (!isValid) return found;
      addRuleFaults(found, this.#today, errors);
      return found;
    };
    return this.#each(`${path}schedules`, given, check, MAX_SCHEDULES);
  }

  async #snoozes(
    path: string,
    given: unknown,
    schedules: ReadonlySet<string>,
  ): Promise<KeptSnooze[]> {
    const check = async (item: object, place: string): Promise<KeptSnooze> => {
      const errors = this.#errors.at({ path: place });
      const snooze = await this.#object<KeptSnooze>(keptSnooze, item, errors);
      requireSchedule(snooze.scheduleId, schedules, errors);
      return snooze;
    };
    return this.#each(`${path}snoozes`, given, check, MAX_SNOOZES);
  }

  async #event(
    given: object,
    errors: ValidationErrors,
    schedules: ReadonlySet<string>,
  ): Promise<ImportedEvent> {
    const before = errors.count;
    const event = await this.#object<ImportedEvent>(importedEvent, given, errors);
    const isValid = errors.count === before;
    const { occurredAt, occurredOn, scheduleId } = event;
    requireSchedule(scheduleId, schedules, errors);
    if (!isValid || occurredOn === undefined) return event;
    // No zone is further from UTC.
    const isNear =
      occurredAt instanceof Date &&
      Math.abs(dayNumber(occurredOn) - dayNumber(occurredAt.toISOString().slice(0, 10))) <= 1;
    if (!isNear) errors.add('occurredOn', 'must be the day of occurredAt in some time zone');
    return event;
  }

  /** Checks the objects of a list, each with the path of its fields. */
  async #each<T>(
    path: string,
    given: unknown,
    check: (item: Record<string, unknown>, path: string) => Promise<T>,
    max = Infinity,
  ): Promise<T[]> {
    if (listOf(given).length > max) {
      this.#errors.add(path, `must have at most ${max} items`);
      return [];
    }
    if (given !== undefined && !Array.isArray(given)) this.#errors.add(path, 'must be an array');
    const found: T[] = [];
    for (const [index, item] of listOf(given).entries()) {
      if (this.#errors.isFull) break;
      const place = `${path}[${index}]`;
      if (isRecord(item)) found.push(await check(item, `${place}.`));
      else this.#errors.add(place, 'must be of type object');
    }
    return found;
  }

  /** Refuses an id that is among `known`, and adds it. The records of a part need one. */
  #requireNew(id: unknown, known: Set<string>, errors: ValidationErrors, what: string): void {
    if (this.#isPart && id === undefined) errors.add('id', 'is required in a part of an export');
    if (typeof id !== 'string') return;
    const key = id.toLowerCase();
    if (known.has(key)) errors.add('id', `repeats the id of an earlier ${what}`);
    known.add(key);
  }

  async #object<T>(
    schema: Joi.ObjectSchema<T>,
    given: object,
    errors: ValidationErrors,
    convert = false,
  ): Promise<T> {
    this.#checked += 1;
    if (this.#checked % TURN === 0) await yieldToEventLoop();
    // A faulty object may have any type, and is never used.
    return checked(schema, given, errors, { convert }) as T;
  }
}

function requireSchedule(
  id: unknown,
  schedules: ReadonlySet<string>,
  errors: ValidationErrors,
): void {
  if (typeof id !== 'string' || schedules.has(id.toLowerCase())) return;
  errors.add('scheduleId', 'must be the id of a schedule of the plant');
}

/** A list, or nothing in place of anything else, which is a fault already. */
export function listOf(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? given : [];
}
