import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import carePlugin from '../care';
import eventsPlugin from '../events';
import photosPlugin from '../photos';
import plantsPlugin from '../plants';
import { commands, type Importing } from './commands';
import { GardenExport } from './garden-export';
import { GardenImport } from './garden-import';
import { routes } from './routes';

export type { ImportedGarden } from './schema';

/** The interface of imports for other plugins. */
export type Gardens = Pick<GardenImport, 'insert'>;

/** Import and export of whole gardens. */
const transfer = definePlugin<Importing & Gardens>({
  name: 'transfer',
  requires: ['accounts', 'care', 'events', 'photos', 'plants'],
  tag: { name: 'Import and export', description: 'Whole gardens as JSON, plants as CSV.' },
  commands: (commandLine) => {
    commands(commandLine, transfer);
  },
  setup: (host) => {
    const plants = host.use(plantsPlugin);
    const photos = host.use(photosPlugin);
    const { events } = host.use(eventsPlugin);
    const { schedules } = host.use(carePlugin);
    const parts = { plants, photos, schedules, events };
    const gardens = new GardenImport(host, parts);
    return {
      exports: {
        host,
        account: (userId) => host.use(accountsPlugin).account(userId),
        insert: (tx, garden) => gardens.insert(tx, garden),
        insertMany: (...garden) => gardens.insertMany(...garden),
      },
      operations: () => routes(gardens, new GardenExport(parts)),
    };
  },
});

export default transfer;
