import { DAY_MS } from '../../../src/core/time';
import { canonicalJson } from '../../../src/core/values';
import { plainly } from '../../../plugins/care/test/plain-days';
import type { Rule } from '../../../plugins/care/schedules/days';
import type { Copy } from '../../support/copy';
import { dayAfter, dayOf } from '../days';
import { order } from '../model';

export type Item = Record<string, unknown>;

/** A snooze (`until`), the removal of one (null) or a skip (no `until`). */
export interface Told {
  at: string;
  /** The time zone of the account when it arrived. */
  zone: string;
  until?: string | null;
  dueOn?: string;
  ofSeveral?: boolean;
}

/** What stands of all that was told. */
interface Standing {
  until: string | null;
  skippedOn: string | null;
}

interface Dated {
  at: string;
  day: string;
}

/** Names recurring care of a plant. */
export interface Named {
  plant: Item;
  schedule: Item | undefined;
  care: string;
}

/** Recurring care of a plant, by a schedule or by a frequency. */
interface Need extends Named {
  rule: Rule;
  last: Dated | undefined;
}

const FREQUENCIES = [
  ['watered', 'wateringFrequencyDays'],
  ['fertilized', 'fertilizerFrequencyDays'],
] as const;
const TYPES: Readonly<Record<string, string>> = { other: 'note' };
/** The fields of a schedule that are not its rule. */
const OTHER_FIELDS = ['id', 'plantId', 'care', 'label', 'active', 'createdAt', 'updatedAt'];
/** Enough that every date falls on every weekday after the longest interval. */
const MAX_DAYS = 22 * 366;

/** Due care word for word as in docs/api.md, from a copy of the records of an account. It keeps what
 * records do not contain: the day of each event, and snoozes and skips.
 */
export class PlainCare {
  readonly #days = new Map<string, Dated>();
  readonly #told = new Map<string, Told[]>();
  readonly #rules = new Map<string, { since: string; rule: Rule }[]>();

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

  /** Stores the rules that are new or were changed. */
  followRules(): void {
    const now = new Date().toISOString();
    for (const { plant, schedule, care } of this.#cares()) {
      const rule = this.#ruleOf(plant, schedule, care);
      const key = keyOf({ plant, schedule, care });
      const known = this.#rules.get(key) ?? [];
      if (!rule || canonicalJson(rule) === canonicalJson(known.at(-1)?.rule)) continue;
      this.#rules.set(key, [...known, { since: now, rule }]);
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

  /** Stores a snooze or skip. */
  tell(need: Named, told: Told): void {
    this.#told.set(keyOf(need), [...(this.#told.get(keyOf(need)) ?? []), told]);
  }

  /** Clearing a frequency removes its snooze or skip for good, and all that was told before. */
  clear(plantId: string, care: string): void {
    const key = `${plantId} ${care}`;
    const at = new Date().toISOString();
    this.#told.set(key, [{ at, zone: this.timezone, until: null }]);
    this.#rules.delete(key);
  }

  /** The snooze or skip that stands, after care and what was told, one by one in the order of their moments. */
  told(need: Named, before = '~'): Standing {
    let state: Standing = { until: null, skippedOn: null };
    let lastOn: string | null = null;
    const events = this.#counting(need).map((event) => ({ ...event, place: 1 }));
    const told = (this.#told.get(keyOf(need)) ?? []).map((each) => {
      // At the same moment care ends a skip, but not a snooze.
      return { ...each, place: each.until === undefined ? 0 : 2 };
    });
    const all = [...events, ...told].filter(({ at }) => at < before);
    for (const each of all.sort((a, b) => order(a.at, b.at) || a.place - b.place)) {
      if ('day' in each) {
        lastOn = each.day;
        state = { until: null, skippedOn: null };
      } else {
        state = after(state, each, this.#dueThen(need, state, lastOn, each));
      }
    }
    return state;
  }

  /** The day on which care was due at a moment, by all that was told of until then. */
  dueAt(need: Named, at: string): string | undefined {
    const last = this.#counting(need).findLast((each) => each.at < at);
    const then = { at, zone: this.timezone };
    return this.#dueThen(need, this.told(need, at), last?.day ?? null, then);
  }

  #dueThen(
    { plant, schedule, care }: Named,
    { until, skippedOn }: Standing,
    lastOn: string | null,
    { at, zone }: Told,
  ): string | undefined {
    if (until !== null) return until;
    const rules = this.#rules.get(keyOf({ plant, schedule, care })) ?? [];
    const held = rules.findLast(({ since }) => since <= at) ?? rules[0];
    if (!held) return undefined;
    const startOn = schedule
      ? held.rule.startOn
      : (lastOn ?? dayOf(String(plant['createdAt']), zone));
    const later = [startOn, lastOn ?? '', skippedOn ?? ''].sort().at(-1) ?? '';
    const soFar = { lastOn, skippedOn, snoozedUntil: null };
    const rule = { ...held.rule, startOn };
    return plainly.dueDays(rule, soFar, '0000-01-01', dayAfter(later, MAX_DAYS)).next().value;
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

  /** The item of care; undefined if it is never due again. */
  item(need: Need): Item | undefined {
    const dueOn = this.dueOn(need);
    return dueOn === undefined ? undefined : this.#item(need, dueOn);
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
    const cares = this.#cares().filter(({ plant }) => plant['archivedAt'] === undefined);
    return cares.flatMap(({ plant, schedule, care }) => {
      const { until, skippedOn } = this.told({ plant, schedule, care });
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

  /** All frequencies and schedules. */
  #cares(): Named[] {
    return [...this.copy.plants.values()].flatMap((plant) => [
      ...FREQUENCIES.map(([care]) => ({ plant, schedule: undefined, care })),
      ...this.#schedulesOf(plant).map((schedule) => {
        return { plant, schedule, care: String(schedule['care']) };
      }),
    ]);
  }

  /** The rule of a schedule or frequency; undefined for none. */
  #ruleOf(plant: Item, schedule: Item | undefined, care: string): Rule | undefined {
    if (schedule) {
      const rest = Object.entries(schedule).filter(([name]) => !OTHER_FIELDS.includes(name));
      // A view of a schedule has the fields of its rule.
      return Object.fromEntries(rest) as unknown as Rule;
    }
    const [, field] = FREQUENCIES.find(([each]) => each === care) ?? [];
    const everyDays = field === undefined ? undefined : plant[field];
    if (typeof everyDays !== 'number') return undefined;
    const always = { weekdays: null, monthDays: null, months: null, seasons: [], endOn: null };
    return { everyDays, startOn: '', ...always };
  }

  #schedulesOf({ id }: Item): Item[] {
    return inOrder(this.copy.schedules.values()).filter(({ plantId }) => plantId === id);
  }

  #needsOf(plant: Item): Need[] {
    const holding = this.#schedulesOf(plant).filter(
      ({ active, endOn }) =>
        active === true && (typeof endOn !== 'string' || endOn >= this.today()),
    );
    const own = FREQUENCIES.flatMap(([care]): Need[] => {
      const rule = this.#ruleOf(plant, undefined, care);
      if (!rule || holding.some((each) => each['care'] === care)) return [];
      const last = this.#counting({ plant, schedule: undefined, care }).at(-1);
      const startOn = last?.day ?? dayOf(String(plant['createdAt']), this.timezone);
      return [{ plant, schedule: undefined, care, rule: { ...rule, startOn }, last }];
    });
    return [
      ...own,
      ...holding.map((schedule) => {
        const care = String(schedule['care']);
        // A view of a schedule has the fields of its rule.
        const rule = schedule as unknown as Rule;
        const last = this.#counting({ plant, schedule, care }).at(-1);
        return { plant, schedule, care, rule, last };
      }),
    ];
  }

  /** The events that count, in the order of their moments. */
  #counting({ plant, schedule, care }: Named): Dated[] {
    const counting = [...this.copy.events.values()].filter(({ plantId, type, scheduleId }) => {
      if (plantId !== plant['id']) return false;
      if (!schedule) return type === care;
      if (scheduleId !== undefined) return scheduleId === schedule['id'];
      return type === care;
    });
    return counting
      .flatMap(({ id }) => this.#days.get(String(id)) ?? [])
      .sort((a, b) => order(a.at, b.at) || order(a.day, b.day));
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

/** What stands after one more thing was told, on the day on which care was due then. */
function after(before: Standing, told: Told, dueOn: string | undefined): Standing {
  const { at, zone, until, ofSeveral } = told;
  if (told.dueOn !== undefined && told.dueOn !== dueOn) return before;
  if (until === null) return { until: null, skippedOn: null };
  if (until !== undefined) {
    const isPutOff = dueOn !== undefined && dueOn < until;
    return ofSeveral === true && !isPutOff ? before : { until, skippedOn: null };
  }
  const on = dayOf(at, zone);
  if (dueOn === undefined || (ofSeveral === true && dueOn > on)) return before;
  return { until: null, skippedOn: dueOn > on ? dueOn : on };
}

function keyOf({ plant, schedule, care }: Named): string {
  return schedule ? String(schedule['id']) : `${String(plant['id'])} ${care}`;
}

function inOrder(items: Iterable<Item>): Item[] {
  const keyOfItem = ({ createdAt, id }: Item) => `${String(createdAt)} ${String(id)}`;
  return [...items].sort((a, b) => order(keyOfItem(a), keyOfItem(b)));
}
