import Big from 'big.js';
import type { ClientSession } from 'mongoose';

import { compareMoments, type DatedMoment, momentText } from '../../../src/core/dated-moment';
import type { OneUpdate } from '../../../src/data/records';
import type { Transaction } from '../../../src/data/transaction';
import { idText, toStoredId } from '../../../src/core/ids';
import type { Host } from '../../../src/plugins/host';
import type { AlikeGrowth, CareEntry, Events, GrowthUnit } from '../../events';
import type { CareChange } from '../../events/domain-events';
import { type GrowthDocument, growthModel } from '../model';

/** What a plant's growth adds up to, without whose it is. */
type GrowthTotal = Pick<GrowthDocument, 'unit' | 'total' | 'measurements' | 'first' | 'last'>;

/** What came to the growth of a plant in a unit, and what went. */
interface Delta {
  total: Big;
  /** The moments of measurements that came. */
  added: DatedMoment[];
  /** How many measurements went. */
  removed: number;
}

/** The growth that an event measured, if it did. */
function measured(
  entry: CareEntry | undefined,
): { unit: GrowthUnit | null; amount: number } | undefined {
  if (entry?.type !== 'growth' || entry.growthAmount === null) return undefined;
  return { unit: entry.growthUnit, amount: entry.growthAmount };
}

/** What plants have grown, per plant and unit: kept up as measurements come and go. */
export class GrowthTotals {
  readonly #growth;
  readonly #events: Events;

  constructor(host: Host, events: Events) {
    this.#events = events;
    this.#growth = host.records(growthModel);
  }

  read(userId: string, session: ClientSession): Promise<GrowthDocument[]> {
    return this.#growth.find({ userId, session }, {}, { sort: { plantId: 1, unit: 1 } });
  }

  /** Counts measurements that came, went or changed, of all plants together. */
  async apply(
    tx: Transaction,
    all: readonly { plantId: string; changes: readonly CareChange[] }[],
  ): Promise<void> {
    const deltas = new Map<string, Delta>();
    const add = (plantId: string, entry: CareEntry, sign: 1 | -1): void => {
      const growth = measured(entry);
      if (!growth) return;
      const key = keyOf(plantId, growth.unit);
      const delta = deltas.get(key) ?? { total: new Big(0), added: [], removed: 0 };
      delta.total = delta.total.plus(new Big(growth.amount).times(sign));
      if (sign === 1) delta.added.push({ at: entry.occurredAt, on: entry.occurredOn });
      else delta.removed += 1;
      deltas.set(key, delta);
    };
    for (const { plantId, changes } of all) {
      for (const { before, after } of changes) {
        if (before) add(plantId, before, -1);
        if (after) add(plantId, after, 1);
      }
    }
    if (deltas.size > 0) await this.#add(tx, deltas);
  }

  /** A deleted plant's growth goes with it. */
  async deletePlant(tx: Transaction, plantId: string): Promise<void> {
    await this.#growth.deleteMany(tx, { plantId: toStoredId(plantId) });
  }

  /** Recomputes all totals; writes what differs and answers each difference. */
  async rebuild(tx: Transaction, measurements: AsyncIterable<AlikeGrowth>): Promise<string[]> {
    const wanted = await sumUp(measurements);
    const stored = new Map<string, GrowthTotal>();
    for (const growth of await this.read(tx.account.id, tx.session)) {
      stored.set(keyOf(idText(growth.plantId), growth.unit), growth);
    }
    const differences: string[] = [];
    for (const key of new Set([...wanted.keys(), ...stored.keys()])) {
      const { plantId, unit } = fromKey(key);
      const should = wanted.get(key);
      const is = stored.get(key);
      if (describe(should) === describe(is)) continue;
      differences.push(
        `growth of plant ${plantId} in ${unit ?? 'no unit'}: ${describe(is)} should be ${describe(should)}`,
      );
      await this.#set(tx, plantId, unit, should);
    }
    return differences;
  }

  async #add(tx: Transaction, deltas: ReadonlyMap<string, Delta>): Promise<void> {
    const plantIds = [...new Set([...deltas.keys()].map((key) => fromKey(key).plantId))];
    const stored = await this.#growth.find(tx, { plantId: { $in: plantIds.map(toStoredId) } });
    const known = new Map(stored.map((each) => [keyOf(idText(each.plantId), each.unit), each]));
    const sums: OneUpdate<GrowthDocument>[] = [];
    for (const [key, { total: change, added, removed }] of deltas) {
      const before = known.get(key);
      // The growth of a deleted plant was deleted with the plant.
      if (!before && added.length <= removed) continue;
      const { plantId, unit } = fromKey(key);
      const span =
        removed === 0
          ? spanOf([...added, ...(before ? [before.first, before.last] : [])])
          : await this.#events.growthSpan(tx, plantId, unit);
      if (!span) {
        await this.#growth.deleteOne(tx, { plantId: toStoredId(plantId), unit });
        continue;
      }
      const total = new Big(before?.total ?? 0).plus(change).toFixed();
      const measurements = (before?.measurements ?? 0) + added.length - removed;
      sums.push({
        filter: { plantId: toStoredId(plantId), unit },
        update: { $set: { total, measurements, ...span } },
      });
    }
    await this.#growth.upsertMany(tx, sums);
  }

  async #set(
    tx: Transaction,
    plantId: string,
    unit: GrowthUnit | null,
    growth: GrowthTotal | undefined,
  ): Promise<void> {
    const filter = { plantId: toStoredId(plantId), unit };
    if (!growth) {
      await this.#growth.deleteOne(tx, filter);
      return;
    }
    const { total, measurements, first, last } = growth;
    await this.#growth.upsert(tx, filter, { $set: { total, measurements, first, last } });
  }
}

function spanOf(
  moments: readonly DatedMoment[],
): { first: DatedMoment; last: DatedMoment } | undefined {
  const sorted = [...moments].sort(compareMoments);
  const [first, last] = [sorted.at(0), sorted.at(-1)];
  return first && last ? { first, last } : undefined;
}

async function sumUp(measured: AsyncIterable<AlikeGrowth>): Promise<Map<string, GrowthTotal>> {
  const totals = new Map<string, GrowthTotal>();
  for await (const { plantId, growthUnit: unit, growthAmount, count, ...span } of measured) {
    const key = keyOf(idText(plantId), unit);
    const known = totals.get(key);
    const moments = [span.first, span.last, ...(known ? [known.first, known.last] : [])];
    totals.set(key, {
      unit,
      total: new Big(growthAmount)
        .times(count)
        .plus(known?.total ?? 0)
        .toFixed(),
      measurements: (known?.measurements ?? 0) + count,
      ...(spanOf(moments) ?? span),
    });
  }
  return totals;
}

function keyOf(plantId: string, unit: GrowthUnit | null): string {
  return `${plantId} ${unit ?? ''}`;
}

function fromKey(key: string): { plantId: string; unit: GrowthUnit | null } {
  const [plantId = '', unit = ''] = key.split(' ');
  return { plantId, unit: unit === '' ? null : (unit as GrowthUnit) }; // keyOf put it there.
}

function describe(growth: GrowthTotal | undefined): string {
  if (!growth) return 'none';
  const { total, measurements, first, last } = growth;
  return `${total} in ${measurements} from ${momentText(first)} to ${momentText(last)}`;
}
