import { idText, toStoredId } from '../../../src/core/ids';
import { LIVE } from '../../../src/data/models';
import type { AccountScope } from '../../../src/data/models';
import type { Records } from '../../../src/data/records';
import type { Transaction } from '../../../src/data/transaction';
import { careOn, type LastCare, type Plants, RECURRING_TYPES } from '../../plants';
import { careChanged } from '../domain-events';
import type { EventDocument, EventType } from '../schema';
import { EventSums } from './event-sums';

/** How one event changed: deleted (`before` alone) or changed (both). */
interface Change {
  before: EventDocument;
  after?: EventDocument;
}

/** Passes on what became of events: to the last care of their plants, and to listeners. */
export class CareChanges {
  readonly #events: Records<EventDocument, AccountScope>;
  readonly #sums: EventSums;
  readonly #plants: Plants;

  constructor(events: Records<EventDocument, AccountScope>, plants: Plants) {
    this.#events = events;
    this.#sums = new EventSums(events);
    this.#plants = plants;
  }

  /** Events of one type, moment and day are there now: logged just now, or again. */
  async added(tx: Transaction, events: readonly EventDocument[]): Promise<void> {
    const [first] = events;
    if (!first) return;
    const { type, occurredAt, occurredOn } = first;
    const plantIds = events.map(({ plantId }) => idText(plantId));
    await this.#plants.care.record(tx, plantIds, { type, occurredAt, occurredOn });
    await this.emitAdded(tx, events);
  }

  /** The same where the last care of plants is recorded already. */
  async emitAdded(tx: Transaction, events: readonly EventDocument[]): Promise<void> {
    for (const after of events) {
      await tx.emit(careChanged, { plantId: idText(after.plantId), changes: [{ after }] });
    }
  }

  /** Events were changed or deleted. */
  async changed(tx: Transaction, changes: readonly Change[]): Promise<void> {
    const byPlant = new Map<string, Change[]>();
    for (const change of changes) {
      const plantId = idText(change.before.plantId);
      byPlant.set(plantId, [...(byPlant.get(plantId) ?? []), change]);
    }
    const lastCare: { id: string; care: Partial<LastCare> }[] = [];
    for (const [plantId, ofPlant] of byPlant) {
      const moved = ofPlant.filter(isMoved).map(({ before }) => before.type);
      if (moved.length > 0) {
        lastCare.push({ id: plantId, care: await this.#latest(tx, plantId, moved) });
      }
    }
    await this.#plants.care.setLast(tx, lastCare);
    for (const [plantId, ofPlant] of byPlant) {
      await tx.emit(careChanged, { plantId, changes: ofPlant });
    }
  }

  /** The last care of a plant, as far as events of these types may have moved it. */
  async #latest(
    tx: Transaction,
    plantId: string,
    types: readonly EventType[],
  ): Promise<Partial<LastCare>> {
    const id = toStoredId(plantId);
    const latest = await this.#events.findOne(
      tx,
      { plantId: id, ...LIVE },
      { sort: { occurredAt: -1 }, projection: { occurredAt: 1 } },
    );
    const care: Partial<LastCare> = { lastEvent: latest?.occurredAt ?? null };
    for (const type of RECURRING_TYPES.filter((each) => types.includes(each))) {
      Object.assign(care, careOn(type, await this.#sums.edge(tx, { plantId: id, type }, 'last')));
    }
    return care;
  }
}

function isMoved({ before, after }: Change): boolean {
  return after?.occurredAt.getTime() !== before.occurredAt.getTime();
}
