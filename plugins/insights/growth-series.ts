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
 *
 * @param options.plantId the only plant whose measurements are read
 */
export async function growthSeries(
  { sums }: Events,
  tenant: Tenant,
  plants: readonly PlantSummary[],
  { today, plantId }: { today: string; plantId?: string | undefined },
): Promise<InsightsView['growthSeries']> {
  const month = today.slice(0, 7);
  const first = new Date(`${month}-01T00:00:00Z`);
  first.setUTCMonth(first.getUTCMonth() + 1 - MONTHS);
  const days = [first.toISOString().slice(0, 10), `${month}-31`] as const;
  const byPlant = new Map(plants.map(({ id }) => [id, new Map<string, MonthSum>()]));
  for await (const { growthAmount, count, ...of } of sums.growthByMonth(tenant, ...days, plantId)) {
    const ofPlant = byPlant.get(idText(of.plantId));
    // The events of a deleted plant are deleted later.
    if (!ofPlant) continue;
    const { growthUnit: unit, month } = of;
    const key = `${unit ?? ''} ${month}`;
    const sum = new Big(growthAmount).times(count).plus(ofPlant.get(key)?.sum ?? 0);
    ofPlant.set(key, { unit, month, sum });
  }
  return plants.flatMap(({ id, name }) =>
    [...(byPlant.get(id) ?? [])]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, { sum, ...of }]) => ({
        plantId: id,
        plantName: name,
        ...of,
        total: asNumber(sum),
      })),
  );
}

interface MonthSum extends Pick<InsightsView['growthSeries'][number], 'unit' | 'month'> {
  sum: Big;
}

/** JSON has no infinity: a sum beyond double range becomes the largest double. */
export function asNumber(total: Big | string): number {
  return Math.min(Number(total), Number.MAX_VALUE);
}
