import { calendarOf, HOUR_MS, startOfDay } from '../../src/core/time';
import { isDay } from '../../src/fields/joi';
import type { ValidationErrors } from '../../src/fields/validation';
import type { ImportedEvent, LastCare } from './schema';

/** Makes events of days on which people last cared for their plants. */
export class LastCareEvents {
  readonly today: string;
  readonly #timezone: string;
  readonly #now: Date;

  constructor(timezone: string, now: Date) {
    this.today = calendarOf(timezone)(now);
    this.#timezone = timezone;
    this.#now = now;
  }

  /** The fields of a plant with the events of its last care in place of the days. */
  withEvents<T extends LastCare>(
    { lastWatered, lastFertilized, ...fields }: T,
    errors: ValidationErrors,
  ): Omit<T, keyof LastCare> & { events: ImportedEvent[] } {
    const events = [
      ...this.eventsOn('lastWatered', lastWatered, { type: 'watered' }, errors),
      ...this.eventsOn('lastFertilized', lastFertilized, { type: 'fertilized' }, errors),
    ];
    return { ...fields, events };
  }

  /** The event of care on a day, if one is given. */
  eventsOn(
    field: string,
    occurredOn: string | undefined,
    event: Pick<ImportedEvent, 'type' | 'text' | 'scheduleId'>,
    errors: ValidationErrors,
  ): ImportedEvent[] {
    // Anything but a day is a fault already.
    if (!isDay(occurredOn)) return [];
    if (occurredOn > this.today) {
      errors.add(field, `must not be after today, ${this.today}`);
      return [];
    }
    const noon = startOfDay(occurredOn, this.#timezone).getTime() + 12 * HOUR_MS;
    // Care that follows today is later.
    const occurredAt = new Date(Math.min(noon, this.#now.getTime()));
    return [{ ...event, occurredAt, occurredOn }];
  }
}
