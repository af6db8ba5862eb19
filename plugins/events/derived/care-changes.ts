import { idText, toStoredId } from '../../../src/core/ids';
import { compareMoments, type DatedMoment } from '../../../src/core/time';
import { groupBy } from '../../../src/core/values';
import type { Transaction } from '../../../src/data/writing/transaction';
import { careOn, type LastCareFields, type Plants, RECURRING_TYPES } from '../../plants';
import { type CareChange, careChanged } from '../domain-events';
import type { EventDocument, EventType } from '../schema';
import type { EventSums } from './event-sums';

/** How one event changed: deleted (`before` alone) or changed (both). */
type Change = CareChange & { before: EventDocument };

/** Updates the last care of plants when their events change, and notifies listeners. */
export class CareChanges {
  readonly #sums: EventSums;
  readonly #plants: Plants;

  constructor(sums: EventSums, plants: Plants) {
    this.#sums = sums;
    this.#plants = plants;
  }

  /**
   * Events of one type, moment and day were logged or restored.
   *
   * @throws ApiError plant_not_found if a plant does not exist, at the end of `tx` at the latest
   */
  async added(tx: Transaction, events: readonly EventDocument[]): Promise<void> {
    const [first] = events;
    if (!first) return;
    const plantIds = events.map(({ plantId }) => idText(plantId));
    await this.#plants.care.record(tx, plantIds, first);
    await tx.emit(
      careChanged,
      events.map((after) => ({ after })),
    );
  }

  /** Records any new events in the last care of their plants, without notifying listeners. */
  async record(tx: Transaction, events: readonly EventDocument[]): Promise<void> {
    const alike = groupBy(events, ({ plantId, type }) => `${idText(plantId)} ${type}`);
    for (const [first, ...more] of alike.values()) {
      const last = more.reduce(
        (a, b) => (compareMoments(momentOf(b), momentOf(a)) > 0 ? b : a),
        first,
      );
      await this.#plants.care.record(tx, [idText(last.plantId)], last);
    }
  }

  /** Events were changed or deleted. */
  async changed(tx: Transaction, changes: readonly Change[]): Promise<void> {
    const moved = changes
      .filter(({ before, after }) => after?.occurredAt.getTime() !== before.occurredAt.getTime())
      .map(({ before: { plantId, type } }) => ({ id: idText(plantId), type }));
    const lastCare: { id: string; care: Partial<LastCareFields> }[] = [];
    for (const id of new Set(moved.map((each) => each.id))) {
      const types = moved.filter((each) => each.id === id).map(({ type }) => type);
      lastCare.push({ id, care: await this.#latest(tx, id, types) });
    }
    await this.#plants.care.setLast(tx, lastCare);
    await tx.emit(careChanged, changes);
  }

  /** The last care of a plant that events of these types may have changed. */
  async #latest(
    tx: Transaction,
    id: string,
    types: readonly EventType[],
  ): Promise<Partial<LastCareFields>> {
    const plantId = toStoredId(id);
    const latest = await this.#sums.last(tx, { plantId });
    const care: Partial<LastCareFields> = { lastEvent: latest?.at ?? null };
    for (const type of RECURRING_TYPES.filter((each) => types.includes(each))) {
      Object.assign(care, careOn(type, await this.#sums.last(tx, { plantId, type })));
    }
    return care;
  }
}

function momentOf({ occurredAt: at, occurredOn: on }: EventDocument): DatedMoment {
  return { at, on };
}
