import { idText, type StoredId, toStoredId } from '../../../src/core/ids';
import { LIVE } from '../../../src/data/changes';
import type { AccountScope } from '../../../src/data/models';
import type { Records } from '../../../src/data/records';
import type { Transaction } from '../../../src/data/transaction';
import { type LastCare, type Plants, RECURRING_CARE, RECURRING_TYPES } from '../../plants';
import { careChanged } from '../domain-events';
import type { EventDocument, EventType } from '../schema';

/** How one event changed: deleted (`before` alone) or changed (both). */
interface Change {
  before: EventDocument;
  after?: EventDocument;
}

/** Passes on what became of events: to the last care of their plants, and to listeners. */
export class CareChanges {
  readonly #events: Records<EventDocument, AccountScope>;
  readonly #plants: Plants;

  constructor(events: Records<EventDocument, AccountScope>, plants: Plants) {
    this.#events = events;
    this.#plants = plants;
  }

  /** Events of one type and moment are there now: logged just now, or again. */
  async added(tx: Transaction, events: readonly EventDocument[]): Promise<void> {
    const [first] = events;
    if (!first) return;
    const { type, occurredAt } = first;
    const plantIds = events.map(({ plantId }) => idText(plantId));
    await this.#plants.care.record(tx, plantIds, { type, occurredAt });
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
    const care: Partial<LastCare> = { lastEvent: await this.#latestAt(tx, { plantId: id }) };
    for (const type of RECURRING_TYPES.filter((each) => types.includes(each))) {
      const { lastDone } = RECURRING_CARE[type];
      care[lastDone] = await this.#latestAt(tx, { plantId: id, type });
    }
    return care;
  }

  async #latestAt(
    tx: Transaction,
    filter: { plantId: StoredId; type?: EventType },
  ): Promise<Date | null> {
    const latest = await this.#events.findOne(
      tx,
      { ...filter, ...LIVE },
      { sort: { occurredAt: -1 }, projection: { occurredAt: 1 } },
    );
    return latest?.occurredAt ?? null;
  }
}

function isMoved({ before, after }: Change): boolean {
  return after?.occurredAt.getTime() !== before.occurredAt.getTime();
}
