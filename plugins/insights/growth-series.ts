import Big from 'big.js';

import { idText } from '../../src/core/ids';
import type { Tenant } from '../../src/data/model/models';
import type { Events } from '../events';
import type { PlantSummary } from '../plants';
import type { InsightsView } from './schema';

/** The number of months, this one included. */
const MONTHS = 12;

/**
 * The growth of plants in each of the last months, in their order, then by unit and month. It is computed
 * for each read, since it is rarely requested and only measurements of these months count.
 */
export async function growthSeries(
  { sums }: Events,
  tenant: Tenant,
  plants: readonly PlantSummary[],
  today: string,
): Promise<InsightsView['growthSeries']> {
  const month = today.slice(0, 7);
  const first = new Date(`${month}-01T00:00:00Z`);
  first.setUTCMonth(first.getUTCMonth() + 1 - MONTHS);
  const places = new Map(plants.map(({ id }, place) => [id, place]));
  const totals = new Map<
    string,
    Omit<InsightsView['growthSeries'][number], 'total'> & { sum: Big }
  >();
  const days = [first.toISOString().slice(0, 10), `${month}-31`] as const;
  for await (const { growthAmount, count, ...of } of sums.growthByMonth(tenant, ...days)) {
    const plantId = idText(of.plantId);
    // The events of a deleted plant are deleted later.
    if (!places.has(plantId)) continue;
    const key = `${plantId} ${of.growthUnit ?? ''} ${of.month}`;
    const sum = new Big(growthAmount).times(count).plus(totals.get(key)?.sum ?? 0);
    totals.set(key, { plantId, unit: of.growthUnit, month: of.month, sum });
  }
  return [...totals]
    .sort(
      ([a, { plantId }], [b, other]) =>
        (places.get(plantId) ?? 0) - (places.get(other.plantId) ?? 0) || (a < b ? -1 : 1),
    )
    .map(([, { sum, ...of }]) => ({ ...of, total: asNumber(sum) }));
}

/** JSON has no infinity: a sum beyond double range becomes the largest double. */
export function asNumber(total: Big | string): number {
  return Math.min(Number(total), Number.MAX_VALUE);
}
