import type { OwnedModel } from '../../src/data/model/owner';
import type { Host } from '../../src/plugins/host';
import type { Photos } from '../photos';
import type { Plants } from '../plants';
import { CareChanges } from './derived/care-changes';
import { EventSums } from './derived/event-sums';
import { eventModel } from './model';
import type { EventDocument } from './schema';

/** The dependencies of all services of events. */
export interface EventContext {
  host: Host;
  plants: Plants;
  photos: Photos;
  model: OwnedModel<EventDocument>;
  sums: EventSums;
  care: CareChanges;
}

export function eventContext(host: Host, plants: Plants, photos: Photos): EventContext {
  const model = host.model(eventModel);
  const sums = new EventSums(model);
  return { host, plants, photos, model, sums, care: new CareChanges(sums, plants) };
}
