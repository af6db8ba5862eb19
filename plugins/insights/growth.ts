import Big from 'big.js';
import type { ClientSession } from 'mongoose';

import type { DomainEvents, Transaction } from '../../src/data/transaction';
import { idText, type StoredId, toStoredId } from '../../src/ids';
import type { Host } from '../../src/plugins/manifest';
import type { CareFacts } from '../events/facts';
import type { EventService } from '../events/service';
import type { GrowthUnit } from '../events/schema';
import { type GrowthDocument, growthModel } from './model';

/** What a plant's growth adds up to, without whose it is. */
type GrowthTotal = Pick<GrowthDocument, 'unit' | 'total' | 'measurements' | 'firstAt' | 'lastAt'>;

/** The growth that an event measured, if it did. */
function measured(
  facts: CareFacts | undefined,
): { unit: GrowthUnit | null; amount: number } | undefined {
  if (facts?.type !== 'growth' || facts.growthAmount === null) return undefined;
  return { unit: facts.growthUnit, amount: facts.growthAmount };
}

/** What plants have grown, per plant and unit: kept up as measurements come and go. */
export class GrowthTotals {
  readonly #growth;

  constructor(
    host: Host,
    private readonly events: EventService,
  ) {
    this.#growth = host.model(growthModel);
  }

  read(userId: string, session: ClientSession): Promise<GrowthDocument[]> {
    return this.#growth.find({ userId }).sort({ plantId: 1, unit: 1 }).session(session).lean();
  }

  /** Counts measurements that came, went or changed. */
  async apply(tx: Transaction, { plantId, changes }: DomainEvents['care.changed']): Promise<void> {
    const deltas = new Map<GrowthUnit | null, { total: Big; measurements: number }>();
    const add = (facts: CareFacts | undefined, sign: 1 | -1): void => {
      const growth = measured(facts);
      if (!growth) return;
      const delta = deltas.get(growth.unit) ?? { total: new Big(0), measurements: 0 };
      delta.total = delta.total.plus(new Big(growth.amount).times(sign));
      delta.measurements += sign;
      deltas.set(growth.unit, delta);
    };
    for (const { before, after } of changes) {
      add(before, -1);
      add(after, 1);
    }
    for (const [unit, delta] of deltas) await this.#add(tx, plantId, unit, delta);
  }

  /** A removed plant's growth goes with it. */
  async forgetPlant(tx: Transaction, plantId: string): Promise<void> {
    await this.#growth.deleteMany(
      { userId: tx.account.id, plantId: toStoredId(plantId) },
      { session: tx.session },
    );
  }

  /** Adds all measurements up anew; writes what differs and says each difference. */
  async rebuild(
    tx: Transaction,
    facts: AsyncIterable<CareFacts & { plantId: StoredId }>,
  ): Promise<string[]> {
    const wanted = await sumUp(facts);
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

  async #add(
    tx: Transaction,
    plantId: string,
    unit: GrowthUnit | null,
    delta: { total: Big; measurements: number },
  ): Promise<void> {
    const scope = { userId: tx.account.id, plantId: toStoredId(plantId), unit };
    const known = await this.#growth.findOne(scope).session(tx.session).lean();
    // Whatever leaves the list of a removed plant was forgotten with the plant.
    if (!known && delta.measurements <= 0) return;
    const span = await this.events.growthSpan(tx, plantId, unit);
    const measurements = (known?.measurements ?? 0) + delta.measurements;
    const total = new Big(known?.total ?? 0).plus(delta.total).toFixed();
    await this.#set(tx, plantId, unit, span && { unit, total, measurements, ...span });
  }

  async #set(
    tx: Transaction,
    plantId: string,
    unit: GrowthUnit | null,
    growth: GrowthTotal | undefined,
  ): Promise<void> {
    const scope = { userId: tx.account.id, plantId: toStoredId(plantId), unit };
    const options = { session: tx.session };
    if (!growth) {
      await this.#growth.deleteOne(scope, options);
      return;
    }
    const { total, measurements, firstAt, lastAt } = growth;
    await this.#growth.updateOne(
      scope,
      { $set: { total, measurements, firstAt, lastAt } },
      { ...options, upsert: true },
    );
  }
}

async function sumUp(
  facts: AsyncIterable<CareFacts & { plantId: StoredId }>,
): Promise<Map<string, GrowthTotal>> {
  const totals = new Map<string, GrowthTotal>();
  for await (const event of facts) {
    const growth = measured(event);
    if (!growth) continue;
    const key = keyOf(idText(event.plantId), growth.unit);
    const { occurredAt } = event;
    const known = totals.get(key);
    totals.set(key, {
      unit: growth.unit,
      total: new Big(known?.total ?? 0).plus(growth.amount).toFixed(),
      measurements: (known?.measurements ?? 0) + 1,
      firstAt: known && known.firstAt < occurredAt ? known.firstAt : occurredAt,
      lastAt: known && known.lastAt > occurredAt ? known.lastAt : occurredAt,
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
  const { total, measurements, firstAt, lastAt } = growth;
  return `${total} in ${measurements} from ${firstAt.toISOString()} to ${lastAt.toISOString()}`;
}
