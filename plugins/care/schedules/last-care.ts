import { type DatedMoment, laterOf, momentText } from '../../../src/core/time';
import { anyOf, asUuid, idText } from '../../../src/core/ids';
import { groupBy } from '../../../src/core/values';
import type { DerivedData } from '../../../src/data/writing/derived';
import type { Tenant } from '../../../src/data/model/models';
import type { OwnedModel } from '../../../src/data/model/owner';
import type { Transaction } from '../../../src/data/writing/transaction';
import { type EventDocument, type EventSums, unknownSchedule } from '../../events';
import type { CareChange } from '../../events/domain-events';
import type { Plants } from '../../plants';
import { CARES, type ScheduleDocument } from './schema';

type Followed = Pick<
  ScheduleDocument,
  '_id' | 'plantId' | 'care' | 'last' | 'acts' | 'snoozedUntil' | 'skippedOn'
>;

/** A schedule, and what its last care should be. */
interface Moved {
  schedule: Followed;
  last: DatedMoment | null;
}

const FOLLOWED = ['plantId', 'care', 'last', 'acts', 'snoozedUntil', 'skippedOn'];

/** Keeps the last care that counts for each schedule up to date with the events. */
export class ScheduleLastCare {
  readonly #model: OwnedModel<ScheduleDocument>;
  readonly #sums: EventSums;
  readonly #plants: Pick<Plants, 'keep'>;

  constructor(model: OwnedModel<ScheduleDocument>, sums: EventSums, plants: Pick<Plants, 'keep'>) {
    this.#model = model;
    this.#sums = sums;
    this.#plants = plants;
  }

  /** The last event that counts for a schedule. */
  async of(
    tenant: Tenant,
    schedule: Pick<Followed, '_id' | 'plantId' | 'care'>,
  ): Promise<DatedMoment | null> {
    const { _id, plantId, care } = schedule;
    const forIt = await this.#sums.last(tenant, { scheduleId: asUuid(_id) });
    if (care === 'other') return forIt;
    const ofPlant = { plantId: asUuid(plantId), type: care, scheduleId: { $exists: false } };
    return laterOf(forIt, await this.#sums.last(tenant, ofPlant));
  }

  /**
   * Updates the schedules for which changed events count.
   *
   * @throws ApiError schedule_not_found if an event names a schedule that its plant does not have, at the
   *   end of `tx` at the latest
   */
  async follow(tx: Transaction, changes: readonly CareChange[]): Promise<void> {
    const added = changes.flatMap(({ before, after }) => (before ? [] : (after ?? [])));
    await this.#record(tx, added);
    const changed = changes.filter(({ before }) => before);
    const events = changed.flatMap(({ before, after }) => [before ?? [], after ?? []].flat());
    if (events.length === 0) return;
    const ofPlants = { plantId: anyOf(events.map(({ plantId }) => plantId)) };
    const schedules = await this.#model.find(ofPlants).of(tx).select(FOLLOWED).lean();
    requireSchedules(changed, schedules);
    const keys = new Set(events.map(careKey));
    const moved: Moved[] = [];
    for (const schedule of schedules) {
      if (!careKeys(schedule).some((key) => keys.has(key))) continue;
      moved.push({ schedule, last: await this.of(tx, schedule) });
    }
    await this.#set(tx, moved);
  }

  /** Records new events; only a later one than the last changes the last care of a schedule. */
  async #record({ userId, session }: Transaction, events: readonly EventDocument[]): Promise<void> {
    const counted = events.filter(({ scheduleId, type }) => scheduleId ?? isCare(type));
    const ofPlants = groupBy(counted, (each) => `${idText(each.plantId)} ${careKey(each)}`);
    const latest = [...ofPlants.values()].map(([event, ...more]) => ({
      event,
      care: event.scheduleId ? idText(event.scheduleId) : event.type,
      last: more.map(momentOf).reduce(laterOf, momentOf(event)),
    }));
    // Events that are logged together have the same moment.
    const alike = groupBy(latest, ({ care, last }) => `${care} ${momentText(last)}`);
    for (const [first, ...others] of alike.values()) {
      const plantId = anyOf([first, ...others].map(({ event }) => event.plantId));
      const { scheduleId, type } = first.event;
      const schedule = scheduleId ? { _id: scheduleId } : { care: type };
      const required = scheduleId && { count: 1 + others.length, missing: noSuchSchedule };
      const filter: object = { userId, plantId, ...schedule };
      const updateMany = { filter, update: { $max: { last: first.last } } };
      // Copies do not contain it.
      const options = { session, tracked: false, ...(required && { required }) };
      await this.#model.bulkWrite([{ updateMany }], options);
    }
  }

  /** Recomputes the last care of a plant's schedules. */
  async recompute(tx: Transaction, plantId: Followed['plantId']): Promise<void> {
    const ofPlant = { plantId: asUuid(plantId) };
    const moved: Moved[] = [];
    for (const schedule of await this.#model.find(ofPlant).of(tx).select(FOLLOWED).lean()) {
      moved.push({ schedule, last: await this.of(tx, schedule) });
    }
    await this.#set(tx, moved);
  }

  /** Recomputes the last care of all schedules; returns each difference. */
  async #rebuild(tx: Transaction): Promise<string[]> {
    const lasts = new Map<string, DatedMoment | null>();
    for await (const { last, ...alike } of this.#sums.lastOfAlike(tx)) {
      const key = careKey(alike);
      lasts.set(key, laterOf(lasts.get(key) ?? null, last));
    }
    const schedules = await this.#model.find().of(tx).select(FOLLOWED).lean();
    const moved = await this.#set(
      tx,
      schedules.map((schedule) => {
        const counting = careKeys(schedule).map((key) => lasts.get(key) ?? null);
        return { schedule, last: counting.reduce(laterOf) };
      }),
    );
    return moved.map(({ schedule, last }) => {
      const texts = `${momentText(schedule.last)} should be ${momentText(last)}`;
      return `schedule ${idText(schedule._id)}: ${texts}`;
    });
  }

  derived(): DerivedData {
    return {
      name: 'last care of schedules',
      rebuild: (tx) => this.#rebuild(tx),
    };
  }

  async #set(tx: Transaction, all: readonly Moved[]): Promise<Moved[]> {
    const moved = all.filter(
      ({ schedule, last }) => momentText(schedule.last) !== momentText(last),
    );
    // Events that are logged together have the same moment.
    for (const alike of groupBy(moved, ({ last }) => momentText(last)).values()) {
      const ids = anyOf(alike.map(({ schedule }) => schedule._id));
      const $set = { last: alike[0].last };
      // Copies do not contain it.
      await this.#model.updateMany({ _id: ids }, { $set }).of(tx).setOptions({ tracked: false });
    }
    await this.showSnoozes(
      tx,
      moved.map(({ schedule }) => schedule),
    );
    return moved;
  }

  /** Makes copies get the plants of snoozed or skipped schedules, and with them the snoozes that still stand. */
  async showSnoozes(tx: Transaction, schedules: readonly Omit<Followed, 'last'>[]): Promise<void> {
    const postponed = schedules.filter(
      ({ acts = [], snoozedUntil, skippedOn }) => acts.length > 0 || (snoozedUntil ?? skippedOn),
    );
    await this.#plants.keep(
      tx,
      postponed.map(({ plantId }) => plantId),
    );
  }
}

function requireSchedules(changes: readonly CareChange[], schedules: readonly Followed[]): void {
  const plantOf = new Map(schedules.map(({ _id, plantId }) => [idText(_id), idText(plantId)]));
  for (const { after } of changes) {
    if (!after?.scheduleId) continue;
    if (plantOf.get(idText(after.scheduleId)) !== idText(after.plantId)) throw noSuchSchedule();
  }
}

function noSuchSchedule(): Error {
  return unknownSchedule.error('scheduleId names a schedule that the plant does not have.');
}

/** The key of what an event counts for: its schedule or, without one, its plant and type. */
function careKey({
  scheduleId,
  plantId,
  type,
}: Pick<EventDocument, 'scheduleId' | 'plantId' | 'type'>): string {
  return scheduleId ? idText(scheduleId) : `${idText(plantId)} ${type}`;
}

/** The keys of the events that count for a schedule. */
function careKeys({ _id, plantId, care }: Followed): [own: string, ofType: string] {
  return [idText(_id), `${idText(plantId)} ${care}`];
}

function isCare(type: string): boolean {
  return (CARES as readonly string[]).includes(type);
}

function momentOf({ occurredAt: at, occurredOn: on }: EventDocument): DatedMoment {
  return { at, on };
}
