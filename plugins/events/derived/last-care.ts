import { idText, type StoredId } from '../../../src/core/ids';
import type { DerivedData } from '../../../src/data/derived';
import type { LastCare, Plants } from '../../plants';
import type { EventService } from '../service';

/** `lastWatered` and `lastEvent` of plants, recomputed from the events. */
export function lastCare(plants: Plants, events: EventService): DerivedData {
  return {
    name: 'last care of plants',
    rebuild: async (tx) => {
      const { account, session } = tx;
      const latest = new Map<string, LastCare>();
      for await (const { plantId, type, occurredAt } of events.careEntries(account.id, session)) {
        const care = careOf(latest, plantId);
        care.lastEvent = later(care.lastEvent, occurredAt);
        if (type === 'watered') care.lastWatered = later(care.lastWatered, occurredAt);
      }
      const differences: string[] = [];
      for (const plant of await plants.summaries(account.id, session)) {
        const care = latest.get(plant.id) ?? { lastWatered: null, lastEvent: null };
        if (text(plant) === text(care)) continue;
        differences.push(`plant ${plant.id}: ${text(plant)} should be ${text(care)}`);
        await plants.setLastCare(tx, [{ id: plant.id, care }]);
      }
      return differences;
    },
  };
}

function careOf(latest: Map<string, LastCare>, plantId: StoredId): LastCare {
  const id = idText(plantId);
  const care = latest.get(id) ?? { lastWatered: null, lastEvent: null };
  latest.set(id, care);
  return care;
}

function later(known: Date | null, other: Date): Date {
  return known === null || other > known ? other : known;
}

function text({ lastWatered, lastEvent }: LastCare): string {
  return JSON.stringify({ lastWatered, lastEvent });
}
