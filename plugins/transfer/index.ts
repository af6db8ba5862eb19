import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import eventsPlugin from '../events';
import photosPlugin from '../photos';
import plantsPlugin from '../plants';
import { commands, type Importing } from './commands';
import { GardenExport } from './garden-export';
import { GardenImport } from './garden-import';
import { routes } from './routes';

/** Whole gardens: brought in from files, and taken out into files. */
const transfer = definePlugin<Importing>({
  name: 'transfer',
  requires: ['accounts', 'events', 'photos', 'plants'],
  tag: { name: 'Bringing and taking', description: 'Whole gardens, as JSON and CSV.' },
  commands: (commandLine) => {
    commands(commandLine, transfer);
  },
  setup: (host) => {
    const plants = host.use(plantsPlugin);
    const photos = host.use(photosPlugin);
    const { events } = host.use(eventsPlugin);
    const gardens = new GardenImport(host, plants, photos, events);
    return {
      exports: {
        host,
        account: (userId) => host.use(accountsPlugin).account(userId),
        insertMany: (...garden) => gardens.insertMany(...garden),
      },
      operations: () => routes(gardens, new GardenExport(plants, photos, events)),
    };
  },
});

export default transfer;
