import { momentText } from '../../../src/core/dated-moment';
import { idText, type StoredId } from '../../../src/core/ids';
import type { DerivedData } from '../../../src/data/derived';
import { careOn, isRecurring, type LastCare } from '../../plants';
import type { EventContext } from '../context';

const NEVER: LastCare = {
  ...{ lastWatered: null, lastWatering: null, lastFertilized: null, lastFertilizing: null },
  lastEvent: null,
};

/** When plants were last cared for, recomputed from the events. */
export function lastCare({ plants, sums }: EventContext): DerivedData {
  return {
    name: 'last care of plants',
    rebuild: async (tx) => {
      const latest = new Map<string, LastCare>();
      for await (const { plantId, type, last } of sums.lastByType(tx)) {
        const care = careOf(latest, plantId);
        care.lastEvent = later(care.lastEvent, last.at);
        if (isRecurring(type)) Object.assign(care, careOn(type, last));
      }
      const differences: string[] = [];
      for (const plant of await plants.care.last(tx)) {
        const care = latest.get(plant.id) ?? NEVER;
        if (text(plant) === text(care)) continue;
        differences.push(`plant ${plant.id}: ${text(plant)} should be ${text(care)}`);
        await plants.care.setLast(tx, [{ id: plant.id, care }]);
      }
      return differences;
    },
  };
}

function careOf(latest: Map<string, LastCare>, plantId: StoredId): LastCare {
  const id = idText(plantId);
  const care = latest.get(id) ?? { ...NEVER };
  latest.set(id, care);
  return care;
}

function later(known: Date | null, other: Date): Date {
  return known === null || other > known ? other : known;
}

function text(care: LastCare): string {
  const { lastWatered, lastFertilized, lastEvent } = care;
  return JSON.stringify({
    ...{ lastWatered, lastWatering: momentText(care.lastWatering) },
    ...{ lastFertilized, lastFertilizing: momentText(care.lastFertilizing) },
    lastEvent,
  });
}
