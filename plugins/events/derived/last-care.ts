import { idText, type StoredId } from '../../../src/core/ids';
import type { DerivedData } from '../../../src/data/derived';
import { isRecurring, type LastCare, type Plants, RECURRING_CARE } from '../../plants';
import type { EventService } from '../service';

const NEVER: LastCare = { lastWatered: null, lastFertilized: null, lastEvent: null };

/** When plants were last cared for, recomputed from the events. */
export function lastCare(plants: Plants, events: EventService): DerivedData {
  return {
    name: 'last care of plants',
    rebuild: async (tx) => {
      const { account, session } = tx;
      const latest = new Map<string, LastCare>();
      for await (const { plantId, type, occurredAt } of events.careEntries(account.id, session)) {
        const care = careOf(latest, plantId);
        care.lastEvent = later(care.lastEvent, occurredAt);
        if (!isRecurring(type)) continue;
        const { lastDone } = RECURRING_CARE[type];
        care[lastDone] = later(care[lastDone], occurredAt);
      }
      const differences: string[] = [];
      for (const plant of await plants.summaries(account.id, session)) {
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

function text({ lastWatered, lastFertilized, lastEvent }: LastCare): string {
  return JSON.stringify({ lastWatered, lastFertilized, lastEvent });
}
