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

export type { GardenImport } from './garden-import';
export type { ImportedGarden } from './schema';

/** Import and export of whole gardens. */
const transfer = definePlugin<Importing>({
  name: 'transfer',
  requires: ['accounts', 'care', 'events', 'photos', 'plants'],
  tag: { name: 'Import and export', description: 'Whole gardens as JSON, plants as CSV.' },
  instructions: 'To add several plants call import_plants once.',
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
      exports: { host, accounts: host.use(accountsPlugin), gardens },
      operations: () => routes(gardens, new GardenExport(parts), host),
    };
  },
});

export default transfer;
