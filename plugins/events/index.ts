import { definePlugin } from '../../src/plugins/define';
import photosPlugin from '../photos';
import plantsPlugin from '../plants';
import { eventNotFound, invalidCursor } from './errors';
import { lastCare } from './last-care';
import { eventModel, removedPlantModel } from './model';
import { EventPages } from './pages';
import { Removals } from './removals';
import { routes } from './routes';
import { EventService } from './service';

/** Care events logged against plants. */
export default definePlugin<{ events: EventService; removals: Removals }>({
  name: 'events',
  requires: ['photos', 'plants'],
  scopes: { 'events:write': 'Log, change and delete care events' },
  errors: [eventNotFound, invalidCursor],
  models: [eventModel, removedPlantModel],
  setup: (host) => {
    const plants = host.offers(plantsPlugin);
    const photos = host.offers(photosPlugin);
    const events = new EventService(host, plants, photos);
    const removals = new Removals(host, events);
    return {
      offers: { events, removals },
      operations: routes(events, new EventPages(host, plants, photos)),
      listeners: { 'plant.removed': (tx, { plantId }) => removals.note(tx, plantId) },
      derived: [lastCare(plants, events)],
      jobs: [removals.job()],
    };
  },
});
