import type Joi from 'joi';

import type { Account } from '../../src/core/identity';
import { yieldToEventLoop } from '../../src/core/async';
import { calendarOf, dayNumber } from '../../src/core/time';
import { isRecord } from '../../src/core/values';
import { checked, type ValidationErrors } from '../../src/fields/validation';
import { faultsOf, MAX_SCHEDULES } from '../care';
import { cropFault } from '../photos';
import {
  type Crop,
  type ImportBody,
  type ImportedEvent,
  importedEvent,
  type ImportedGarden,
  type ImportedPhoto,
  importedPhoto,
  type ImportedPlant,
  type ImportedSchedule,
  importedSchedule,
  type LastCare,
  plantFields,
  type PlantFields,
  rowFields,
} from './schema';
import { LastCareEvents } from './last-care';
import { rowsOf } from './table';

/** Objects checked per turn of the event loop, which takes a few milliseconds. */
const TURN = 50;

/** The most that one import may have. */
export interface ImportLimits {
  plants: number;
  events: number;
}

/** Checks a body, a piece at a time; adds its faults to `errors`. */
export async function checkedGarden(
  body: ImportBody,
  errors: ValidationErrors,
  account: Account,
  limits: ImportLimits,
): Promise<ImportedGarden> {
  const check = new GardenCheck(errors, calendarOf(account.timezone)(new Date()));
  const isTable = 'csv' in body;
  for (const name of isTable ? ['photos'] : ['columns', 'delimiter', 'dates']) {
    if (name in body) errors.add(name, `is allowed only with ${isTable ? 'plants' : 'csv'}`);
  }
  // Another type is a fault already.
  if ('csv' in body && typeof body.csv === 'string') {
    if (errors.count > 0) return { plants: [], photos: [] };
    return { plants: await check.table(body.csv, body, account, limits.plants), photos: [] };
  }
  const { plants = [], photos = [] } = body as Partial<ImportedGarden>;
  if (listOf(plants).length > limits.plants) return { plants: [], photos: [] };
  const events = listOf(plants).flatMap((each) => (isRecord(each) ? [each['events']] : []));
  const count = events.reduce<number>((sum, each) => sum + listOf(each).length, 0);
  if (count > limits.events) {
    errors.add('plants', `must have at most ${limits.events.toLocaleString('en')} events in all`);
    return { plants: [], photos: [] };
  }
  return { plants: await check.plants(listOf(plants)), photos: await check.photos('', photos) };
}

class GardenCheck {
  readonly #errors: ValidationErrors;
  readonly #today: string;
  readonly #photoIds = new Set<string>();
  #checked = 0;

  /** @param today the first day of schedules without one */
  constructor(errors: ValidationErrors, today: string) {
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
      plants.push({ ...care.taken(row, errors), photos: [], schedules: [] });
    }
    return plants;
  }

  plants(given: readonly unknown[]): Promise<ImportedPlant[]> {
    return this.#each('plants', given, async (plant, path) => {
      const { photos, schedules, events, ...fields } = plant;
      const errors = this.#errors.at({ path });
      const ids = new Set<string>();
      return {
        ...(await this.#object<PlantFields>(plantFields, fields, errors)),
        photos: await this.photos(path, photos),
        schedules: await this.#schedules(path, schedules, ids),
        events: await this.#each(`${path}events`, events, (event, place) =>
          this.#event(event, this.#errors.at({ path: place }), ids),
        ),
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
    requireNew(id, this.#photoIds, errors, 'photo');
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
    if (listOf(given).length > MAX_SCHEDULES) {
      this.#errors.add(`${path}schedules`, `must have at most ${MAX_SCHEDULES} items`);
      return [];
    }
    return this.#each(`${path}schedules`, given, async (item, place) => {
      const errors = this.#errors.at({ path: place });
      const before = errors.count;
      const found = await this.#object<ImportedSchedule>(importedSchedule, item, errors);
      const isValid = errors.count === before;
      requireNew(found.id, ids, errors, 'schedule');
      if (!isValid) return found;
      addRuleFaults(found, this.#today, errors);
      return found;
    });
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
    if (typeof scheduleId === 'string' && !schedules.has(scheduleId.toLowerCase())) {
      errors.add('scheduleId', 'must be the id of a schedule of the plant');
    }
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
  ): Promise<T[]> {
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

/** Refuses an id that is among `known`, and adds it. */
function requireNew(id: unknown, known: Set<string>, errors: ValidationErrors, what: string): void {
  if (typeof id !== 'string') return;
  const key = id.toLowerCase();
  if (known.has(key)) errors.add('id', `repeats the id of an earlier ${what}`);
  known.add(key);
}

/**
 * Adds the faults of a schedule whose fields are valid.
 *
 * @param today the first day if none is given
 */
export function addRuleFaults(
  given: ImportedSchedule,
  today: string,
  errors: ValidationErrors,
): void {
  const { care, label, seasons, startOn, endOn } = given;
  const faults = faultsOf({
    care,
    label: label ?? null,
    everyDays: given.everyDays ?? null,
    weekdays: given.weekdays ?? null,
    monthDays: given.monthDays ?? null,
    months: given.months ?? null,
    seasons,
    endOn: endOn ?? null,
    startOn: startOn ?? today,
  });
  for (const { field, what } of faults) errors.add(field, what);
}

function listOf(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? given : [];
}
