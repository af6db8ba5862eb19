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

/** Whole gardens: brought in from files, and taken out into files. */
const transfer = definePlugin<Importing>({
  name: 'transfer',
  requires: ['accounts', 'care', 'events', 'photos', 'plants'],
  tag: { name: 'Bringing and taking', description: 'Whole gardens, as JSON and CSV.' },
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
        insertMany: (...garden) => gardens.insertMany(...garden),
      },
      operations: () => routes(gardens, new GardenExport(parts)),
    };
  },
});

export default transfer;
