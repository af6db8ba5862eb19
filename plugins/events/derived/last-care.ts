import { momentText } from '../../../src/core/dated-moment';
import { idText } from '../../../src/core/ids';
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
        const care = latest.get(idText(plantId)) ?? NEVER;
        const isLater = care.lastEvent === null || last.at > care.lastEvent;
        latest.set(idText(plantId), {
          ...care,
          ...(isRecurring(type) && careOn(type, last)),
          ...(isLater && { lastEvent: last.at }),
        });
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

function text({ lastWatered, lastWatering, lastFertilized, lastFertilizing, lastEvent }: LastCare) {
  const days = [momentText(lastWatering), momentText(lastFertilizing)];
  return JSON.stringify({ lastWatered, lastFertilized, lastEvent, days });
}
