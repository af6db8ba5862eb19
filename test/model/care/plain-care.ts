import { DAY_MS } from '../../../src/core/time';
import { plainly } from '../../../plugins/care/test/plain-days';
import type { Rule } from '../../../plugins/care/schedules/days';
import type { Copy } from '../../support/copy';
import { dayAfter, dayOf } from '../days';
import { order } from '../model';

type Item = Record<string, unknown>;

/** A snooze or skip of care. */
export interface Told {
  until?: string;
  setAt?: string;
  skippedOn?: string;
}

interface Dated {
  at: string;
  day: string;
}

/** Recurring care of a plant, by a schedule or by a frequency. */
interface Need {
  plant: Item;
  schedule: Item | undefined;
  care: string;
  rule: Rule;
  last: Dated | undefined;
}

const FREQUENCIES = [
  ['watered', 'wateringFrequencyDays'],
  ['fertilized', 'fertilizerFrequencyDays'],
] as const;
const TYPES: Readonly<Record<string, string>> = { other: 'note' };
/** Enough that every date falls on every weekday after the longest interval. */
const MAX_DAYS = 22 * 366;

/** Due care word for word as in docs/api.md, from a copy of the records of an account. It keeps what
 * records do not contain: the day of each event, and snoozes and skips.
 */
export class PlainCare {
  readonly #days = new Map<string, Dated>();
  readonly #told = new Map<string, Told>();

  constructor(
    readonly copy: Copy,
    public timezone: string,
  ) {}

  /** Stores the days of events that are new or were moved. */
  followEvents(): void {
    for (const [id, { occurredAt }] of this.copy.events) {
      const at = String(occurredAt);
      if (this.#days.get(id)?.at !== at) {
        this.#days.set(id, { at, day: dayOf(at, this.timezone) });
      }
    }
  }

  today(): string {
    return dayOf(new Date().toISOString(), this.timezone);
  }

  /** All care of plants, in the order of the list of plants. */
  needs(): Need[] {
    return inOrder(this.copy.plants.values())
      .filter(({ archivedAt }) => archivedAt === undefined)
      .flatMap((plant) => this.#needsOf(plant));
  }

  /** Stores a snooze or skip, which replaces an earlier one. */
  tell(need: Need, told: Told): void {
    this.#told.set(keyOf(need), told);
  }

  /** Clearing a frequency removes its snooze or skip. */
  clear(plantId: string, care: string): void {
    this.#told.delete(`${plantId} ${care}`);
  }

  /** The snooze or skip that still stands. */
  told(need: Pick<Need, 'plant' | 'schedule' | 'care' | 'last'>): {
    until: string | null;
    skippedOn: string | null;
  } {
    const { until, setAt = '', skippedOn } = this.#told.get(keyOf(need)) ?? {};
    const { at, day } = need.last ?? { at: '', day: '' };
    return {
      until: until !== undefined && at <= setAt ? until : null,
      skippedOn: skippedOn !== undefined && skippedOn > day ? skippedOn : null,
    };
  }

  /** The days up to one on which care is due. */
  days(need: Need, to: string): Generator<string, undefined> {
    const { until, skippedOn } = this.told(need);
    const soFar = { lastOn: need.last?.day ?? null, skippedOn, snoozedUntil: until };
    return plainly.dueDays(need.rule, soFar, this.today(), to);
  }

  /** The day on which care is due. */
  dueOn(need: Need): string | undefined {
    const { until, skippedOn } = this.told(need);
    const later = [need.rule.startOn, need.last?.day ?? '', skippedOn ?? ''].sort().at(-1) ?? '';
    return until ?? this.days(need, dayAfter(later, MAX_DAYS)).next().value;
  }

  /** Due care, and with `to` also later occurrences. */
  items(to?: string): Item[] {
    const items = this.needs().flatMap((need) => {
      const days = to === undefined ? [this.dueOn(need)] : [...this.days(need, to)];
      return days.flatMap((day): Item[] => (day === undefined ? [] : [this.#item(need, day)]));
    });
    return items.sort((a, b) => order(String(a['dueOn']), String(b['dueOn'])));
  }

  /** The snoozes and skips of active plants, as in copies. */
  snoozes(): Item[] {
    const plants = [...this.copy.plants.values()].filter(
      ({ archivedAt }) => archivedAt === undefined,
    );
    const cares = plants.flatMap((plant) => [
      ...FREQUENCIES.map(([care]) => ({ plant, schedule: undefined, care })),
      ...this.#schedulesOf(plant).map((schedule) => {
        return { plant, schedule, care: String(schedule['care']) };
      }),
    ]);
    return cares.flatMap(({ plant, schedule, care }) => {
      const last = this.#last(plant, schedule, care);
      const { until, skippedOn } = this.told({ plant, schedule, care, last });
      if (until === null && skippedOn === null) return [];
      return {
        plantId: plant['id'],
        type: TYPES[care] ?? care,
        ...(schedule && { scheduleId: schedule['id'] }),
        until,
        ...(skippedOn !== null && { skippedOn }),
      };
    });
  }

  #schedulesOf({ id }: Item): Item[] {
    return inOrder(this.copy.schedules.values()).filter(({ plantId }) => plantId === id);
  }

  #needsOf(plant: Item): Need[] {
    const holding = this.#schedulesOf(plant).filter(
      ({ active, endOn }) =>
        active === true && (typeof endOn !== 'string' || endOn >= this.today()),
    );
    const own = FREQUENCIES.flatMap(([care, field]): Need[] => {
      const everyDays = plant[field];
      if (typeof everyDays !== 'number' || holding.some((each) => each['care'] === care)) return [];
      const last = this.#last(plant, undefined, care);
      const startOn = last?.day ?? dayOf(String(plant['createdAt']), this.timezone);
      const always = { weekdays: null, monthDays: null, months: null, seasons: [], endOn: null };
      return [{ plant, schedule: undefined, care, rule: { everyDays, startOn, ...always }, last }];
    });
    return [
      ...own,
      ...holding.map((schedule) => {
        const care = String(schedule['care']);
        // A view of a schedule has the fields of its rule.
        const rule = schedule as unknown as Rule;
        return { plant, schedule, care, rule, last: this.#last(plant, schedule, care) };
      }),
    ];
  }

  /** The last event that counts. */
  #last(plant: Item, schedule: Item | undefined, care: string): Dated | undefined {
    const counting = [...this.copy.events.values()].filter(({ plantId, type, scheduleId }) => {
      if (plantId !== plant['id']) return false;
      if (!schedule) return type === care;
      if (scheduleId !== undefined) return scheduleId === schedule['id'];
      return type === care;
    });
    return counting
      .flatMap(({ id }) => this.#days.get(String(id)) ?? [])
      .sort((a, b) => order(a.at, b.at) || order(a.day, b.day))
      .at(-1);
  }

  #item(need: Need, dueOn: string): Item {
    const { plant, schedule, care, last } = need;
    return {
      plantId: plant['id'],
      plantName: plant['name'],
      location: plant['location'],
      type: TYPES[care] ?? care,
      everyDays: this.#everyDays(need, dueOn),
      lastDone: last?.at ?? null,
      dueOn,
      daysOverdue: (Date.parse(this.today()) - Date.parse(dueOn)) / DAY_MS,
      snoozedUntil: this.told(need).until === dueOn ? dueOn : null,
      scheduleId: schedule?.['id'] ?? null,
      care,
      label: schedule?.['label'] ?? null,
    };
  }

  /** The interval that holds on a day; without one, the days to the next occurrence, even after the last day. */
  #everyDays({ rule }: Need, dueOn: string): number {
    const season = rule.seasons.find((each) => plainly.isIn(each, dueOn));
    const isLeftOut = rule.months?.includes(Number(dueOn.slice(5, 7))) === false;
    const interval = isLeftOut ? 0 : season ? season.everyDays : rule.everyDays;
    if (interval) return interval;
    let day = dayAfter(dueOn, 1);
    if (rule.startOn > day) day = rule.startOn;
    for (let searched = 0; searched < MAX_DAYS; searched += 1) {
      if (plainly.isDue({ ...rule, endOn: null }, dueOn, day))
        return (Date.parse(day) - Date.parse(dueOn)) / DAY_MS;
      day = dayAfter(day, 1);
    }
    return rule.everyDays ?? 7;
  }
}

function keyOf({ plant, schedule, care }: Pick<Need, 'plant' | 'schedule' | 'care'>): string {
  return schedule ? String(schedule['id']) : `${String(plant['id'])} ${care}`;
}

function inOrder(items: Iterable<Item>): Item[] {
  const keyOfItem = ({ createdAt, id }: Item) => `${String(createdAt)} ${String(id)}`;
  return [...items].sort((a, b) => order(keyOfItem(a), keyOfItem(b)));
}
