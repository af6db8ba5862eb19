import type { Tenant } from '../../src/data/models';
import type { Records } from '../../src/data/records';
import type { Host } from '../../src/plugins/host';
import type { Photos } from '../photos';
import type { Plants } from '../plants';
import { CareChanges } from './derived/care-changes';
import { EventSums } from './derived/event-sums';
import { eventModel } from './model';
import type { EventDocument } from './schema';

/** What all that is done with events needs. */
export interface EventContext {
  host: Host;
  plants: Plants;
  photos: Photos;
  records: Records<EventDocument, Tenant>;
  sums: EventSums;
  care: CareChanges;
}

export function eventContext(host: Host, plants: Plants, photos: Photos): EventContext {
  const records = host.records(eventModel);
  const sums = new EventSums(records);
  return { host, plants, photos, records, sums, care: new CareChanges(sums, plants) };
}
