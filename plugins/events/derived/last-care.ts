import { compareMoments, type DatedMoment, momentText } from '../../../src/core/time';
import { idText } from '../../../src/core/ids';
import type { DerivedData } from '../../../src/data/writing/derived';
import { careOn, isRecurring, type LastCareFields, RECURRING_CARE } from '../../plants';
import type { EventContext } from '../context';
import type { EventType } from '../schema';

/** The last care of a plant without events. */
export const NEVER_CARED: LastCareFields = {
  lastWatered: null,
  lastWatering: null,
  lastFertilized: null,
  lastFertilizing: null,
  lastEvent: null,
};

/** The last care of plants, recomputed from the events. */
export function lastCare({ plants, sums }: EventContext): DerivedData {
  return {
    name: 'last care of plants',
    rebuild: async (tx) => {
      const latest = new Map<string, LastCareFields>();
      for await (const { plantId, type, last } of sums.lastOfAlike(tx)) {
        const care = latest.get(idText(plantId)) ?? NEVER_CARED;
        latest.set(idText(plantId), laterCare(care, type, last));
      }
      const differences: string[] = [];
      for (const plant of await plants.care.last(tx)) {
        const care = latest.get(plant.id) ?? NEVER_CARED;
        if (text(plant) === text(care)) continue;
        differences.push(`plant ${plant.id}: ${text(plant)} should be ${text(care)}`);
        await plants.care.setLast(tx, [{ id: plant.id, care }]);
      }
      return differences;
    },
  };
}

/** The last care of a plant after one more event; only a later event changes it. */
export function laterCare(
  care: LastCareFields,
  type: EventType,
  event: DatedMoment,
): LastCareFields {
  const known = isRecurring(type) ? care[RECURRING_CARE[type].last] : null;
  return {
    ...care,
    ...(isRecurring(type) && (known === null || compareMoments(event, known) > 0)
      ? careOn(type, event)
      : {}),
    ...((care.lastEvent === null || event.at > care.lastEvent) && { lastEvent: event.at }),
  };
}

function text({
  lastWatered,
  lastWatering,
  lastFertilized,
  lastFertilizing,
  lastEvent,
}: LastCareFields) {
  const days = [momentText(lastWatering), momentText(lastFertilizing)];
  return JSON.stringify({ lastWatered, lastFertilized, lastEvent, days });
}
