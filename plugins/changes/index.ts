import { definePlugin } from '../../src/plugins/plugin';
import eventsPlugin from '../events';
import photosPlugin from '../photos';
import plantsPlugin from '../plants';
import { cursorExpired } from './errors';
import { routes } from './routes';
import { ChangeService } from './service';

/** What changed, for those who keep a copy of their data. */
export default definePlugin({
  name: 'changes',
  requires: ['events', 'photos', 'plants'],
  errors: [cursorExpired],
  tag: { name: 'Changes', description: 'What changed, for those who keep a copy of their data.' },
  setup: (host) => {
    const plants = host.use(plantsPlugin);
    const { events } = host.use(eventsPlugin);
    const changes = new ChangeService(host, { plants, events, photos: host.use(photosPlugin) });
    return { operations: () => routes(changes, plants) };
  },
});
