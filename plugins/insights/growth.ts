import Big from 'big.js';
import type { ClientSession } from 'mongoose';

import { compareMoments, momentText } from '../../src/core/time';
import { anyOf, idText } from '../../src/core/ids';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import type { AlikeGrowth, EventDocument, Events } from '../events';
import type { CareChange } from '../events/domain-events';
import { type GrowthDocument, growthModel } from './model';

/** The growth of a plant in a unit, without its account. */
type Growth = Omit<GrowthDocument, 'userId'>;

/**
 * The growth of plants, by plant and unit. It is stored, since adding it up for each read would make
 * insights slower with every event.
 */
export class GrowthTotals {
  readonly #growth;
  readonly #events: Events;

  constructor(host: Host, events: Events) {
    this.#events = events;
    this.#growth = host.model(growthModel);
  }

  read(userId: string, session: ClientSession): Promise<GrowthDocument[]> {
    return this.#growth.find().of({ userId, session }).sort({ plantId: 1, unit: 1 }).lean().exec();
  }

  /** Adds new measurements. Plants with changed or deleted ones are summed up again. */
  async apply(tx: Transaction, changes: readonly CareChange[]): Promise<void> {
    const changed = changes.filter(({ before, after }) => textOf(before) !== textOf(after));
    const added = changed.flatMap(({ after }) => measured(after));
    const removed = changed.flatMap(({ before }) => measured(before));
    if (added.length + removed.length === 0) return;
    const plantIds = [...added, ...removed].map(({ plantId }) => plantId);
    const stored = await this.#growth
      .find({ plantId: anyOf(plantIds) })
      .of(tx)
      .lean();
    // The growth of a deleted plant was deleted with it.
    const existing = new Set([...stored, ...added].map(({ plantId }) => idText(plantId)));
    const outdated = new Map(removed.map(({ plantId }) => [idText(plantId), plantId]));
    for (const id of outdated.keys()) if (!existing.has(id)) outdated.delete(id);
    const sums = new GrowthSums();
    for (const each of [...stored, ...added]) {
      if (!outdated.has(idText(each.plantId))) sums.add(each);
    }
    if (outdated.size > 0) {
      for await (const each of this.#events.sums.growth(tx, [...outdated.values()])) {
        sums.addAlike(each);
      }
    }
    await this.#write(tx, stored, sums);
  }

  /** Deletes the growth of a deleted plant. */
  async deletePlant(tx: Transaction, plantId: string): Promise<void> {
    await this.#growth.deleteMany({ plantId }).of(tx);
  }

  /** Recomputes all growth; corrects and returns each difference. */
  async rebuild(tx: Transaction, measurements: AsyncIterable<AlikeGrowth>): Promise<string[]> {
    const sums = new GrowthSums();
    for await (const each of measurements) sums.addAlike(each);
    return this.#write(tx, await this.read(tx.account.id, tx.session), sums);
  }

  /** Corrects the stored growth; returns each difference. */
  async #write(tx: Transaction, stored: readonly Growth[], wanted: GrowthSums): Promise<string[]> {
    const is = new Map(stored.map((growth) => [growthKey(growth), growth]));
    const changed = [...wanted.byKey].filter(
      ([key, growth]) => describe(is.get(key)) !== describe(growth),
    );
    const gone = [...is].filter(([key]) => !wanted.byKey.has(key));
    const { userId, session } = tx;
    const writes = [
      ...changed.map(([, { plantId, unit, ...sum }]) => ({
        updateOne: { filter: { userId, plantId, unit }, update: { $set: sum }, upsert: true },
      })),
      ...gone.map(([, { plantId, unit }]) => ({
        deleteOne: { filter: { userId, plantId, unit } },
      })),
    ];
    await this.#growth.bulkWrite(writes, { session });
    return [...changed, ...gone].map(([key]) => {
      const [plantId, unit] = key.split(' ');
      const [before, after] = [is.get(key), wanted.byKey.get(key)].map(describe);
      return `growth of plant ${plantId} in ${unit || 'no unit'}: ${before} should be ${after}`;
    });
  }
}

/** Sums of measurements, by plant and unit. */
class GrowthSums {
  readonly byKey = new Map<string, Growth>();

  add({ plantId, unit, total, measurements, first, last }: Growth): void {
    const key = growthKey({ plantId, unit });
    const known = this.byKey.get(key);
    this.byKey.set(key, {
      plantId,
      unit,
      total: new Big(total).plus(known?.total ?? 0).toFixed(),
      measurements: measurements + (known?.measurements ?? 0),
      first: known && compareMoments(known.first, first) < 0 ? known.first : first,
      last: known && compareMoments(known.last, last) > 0 ? known.last : last,
    });
  }

  addAlike({ growthUnit: unit, growthAmount, count, ...alike }: AlikeGrowth): void {
    const total = new Big(growthAmount).times(count).toFixed();
    this.add({ ...alike, unit, total, measurements: count });
  }
}

/** The measurement of an event, if it has one. */
function measured(event: EventDocument | undefined): Growth[] {
  if (event?.type !== 'growth' || event.growthAmount === null) return [];
  const { plantId, growthUnit: unit, growthAmount, occurredAt: at, occurredOn: on } = event;
  const total = new Big(growthAmount).toFixed();
  return [{ plantId, unit, total, measurements: 1, first: { at, on }, last: { at, on } }];
}

function textOf(event: EventDocument | undefined): string {
  return measured(event)
    .map((each) => `${growthKey(each)} ${describe(each)}`)
    .join();
}

function growthKey({ plantId, unit }: Pick<Growth, 'plantId' | 'unit'>): string {
  return `${idText(plantId)} ${unit ?? ''}`;
}

function describe(growth: Growth | undefined): string {
  if (!growth) return 'none';
  const { total, measurements, first, last } = growth;
  return `${total} in ${measurements} from ${momentText(first)} to ${momentText(last)}`;
}
