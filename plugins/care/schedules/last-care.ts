import { compareMoments, type DatedMoment, momentText } from '../../../src/core/dated-moment';
import { anyOf, asUuid, idText } from '../../../src/core/ids';
import type { DerivedData } from '../../../src/data/writing/derived';
import type { Tenant } from '../../../src/data/model/models';
import type { OwnedModel } from '../../../src/data/model/owner';
import type { Transaction } from '../../../src/data/writing/transaction';
import { type EventDocument, type EventSums, unknownSchedule } from '../../events';
import type { CareChange } from '../../events/domain-events';
import type { ScheduleDocument } from './schema';

type Followed = Pick<ScheduleDocument, '_id' | 'plantId' | 'care' | 'last'>;

/** A schedule, and the last care that counts for it now. */
interface Moved {
  schedule: Followed;
  last: DatedMoment | null;
}

const FOLLOWED = ['plantId', 'care', 'last'];

/** The last care that counts for each schedule, kept with it: it follows from the events. */
export class LastCare {
  readonly #model: OwnedModel<ScheduleDocument>;
  readonly #sums: EventSums;

  constructor(model: OwnedModel<ScheduleDocument>, sums: EventSums) {
    this.#model = model;
    this.#sums = sums;
  }

  async of(tenant: Tenant, schedule: Omit<Followed, 'last'>): Promise<DatedMoment | null> {
    const { _id, plantId, care } = schedule;
    const forIt = await this.#sums.last(tenant, { scheduleId: asUuid(_id) });
    if (care === 'other') return forIt;
    const ofPlant = { plantId: asUuid(plantId), type: care, scheduleId: { $exists: false } };
    return laterOf(forIt, await this.#sums.last(tenant, ofPlant));
  }

  /**
   * Follows events.
   *
   * @throws ApiError schedule_not_found where one is for a schedule that its plant does not have
   */
  async follow(tx: Transaction, changes: readonly CareChange[]): Promise<void> {
    const events = changes.flatMap(({ before, after }) => after ?? before ?? []);
    const ofPlants = { plantId: anyOf(events.map(({ plantId }) => plantId)) };
    const schedules = await this.#model.find(ofPlants).of(tx).select(FOLLOWED).lean();
    requireSchedules(changes, schedules);
    const moved: Moved[] = [];
    for (const schedule of schedules) {
      const counting = changes.filter((change) =>
        [change.before, change.after].some((event) => event && counts(schedule, event)),
      );
      if (counting.length === 0) continue;
      const added = counting.flatMap(({ before, after }) => (after && !before ? after : []));
      const isMore = added.length === counting.length;
      const last = isMore
        ? added.map(momentOf).reduce(laterOf, schedule.last)
        : await this.of(tx, schedule);
      moved.push({ schedule, last });
    }
    await this.#set(tx, moved);
  }

  /** Computes it anew for all schedules, or those of a plant; answers those for which it was another. */
  async recompute(tx: Transaction, plantId?: Followed['plantId']): Promise<Moved[]> {
    const some = plantId ? { plantId: asUuid(plantId) } : {};
    const moved: Moved[] = [];
    for (const schedule of await this.#model.find(some).of(tx).select(FOLLOWED).lean()) {
      moved.push({ schedule, last: await this.of(tx, schedule) });
    }
    return this.#set(tx, moved);
  }

  derived(): DerivedData {
    return {
      name: 'last care of schedules',
      rebuild: async (tx) =>
        (await this.recompute(tx)).map(({ schedule, last }) => {
          const texts = `${momentText(schedule.last)} should be ${momentText(last)}`;
          return `schedule ${idText(schedule._id)}: ${texts}`;
        }),
    };
  }

  async #set(tx: Transaction, all: readonly Moved[]): Promise<Moved[]> {
    const moved = all.filter(
      ({ schedule, last }) => momentText(schedule.last) !== momentText(last),
    );
    // What is logged at once is of one moment.
    const lasts = new Map(moved.map(({ last }) => [momentText(last), last]));
    for (const [text, last] of lasts) {
      const alike = moved.filter((each) => momentText(each.last) === text);
      const ids = anyOf(alike.map(({ schedule }) => schedule._id));
      // Copies are shown none of it.
      const set = this.#model.updateMany({ _id: ids }, { $set: { last } });
      await set.of(tx).setOptions({ tracked: false });
    }
    return moved;
  }
}

function requireSchedules(changes: readonly CareChange[], schedules: readonly Followed[]): void {
  const plantOf = new Map(schedules.map(({ _id, plantId }) => [idText(_id), idText(plantId)]));
  for (const { after } of changes) {
    if (!after?.scheduleId) continue;
    if (plantOf.get(idText(after.scheduleId)) === idText(after.plantId)) continue;
    throw unknownSchedule.error('scheduleId names a schedule that the plant does not have.');
  }
}

function counts({ _id, plantId, care }: Followed, event: EventDocument): boolean {
  if (event.scheduleId) return idText(event.scheduleId) === idText(_id);
  return event.type === care && idText(event.plantId) === idText(plantId);
}

function momentOf({ occurredAt: at, occurredOn: on }: EventDocument): DatedMoment {
  return { at, on };
}

function laterOf(one: DatedMoment | null, other: DatedMoment | null): DatedMoment | null {
  if (!one || !other) return one ?? other;
  return compareMoments(one, other) < 0 ? other : one;
}
