import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import eventsPlugin from '../events';
import photosPlugin from '../photos';
import plantsPlugin from '../plants';
import { commands } from './commands';
import { GeneratedGarden } from './generated/generated-garden';
import { type GardenSeed, gardenSeed } from './seeded/garden-seed';
import { SeededGarden } from './seeded/seeded-garden';
import { welcome } from './welcome';

/** Gardens to try the service with: a small one that was written by hand, and large made-up ones. */
const demo = definePlugin<GeneratedGarden>({
  name: 'demo',
  requires: ['accounts', 'events', 'photos', 'plants'],
  commands: (commandLine) => {
    commands(commandLine, demo);
  },
  setup: (host) => {
    const dependencies = {
      accounts: host.use(accountsPlugin),
      plants: host.use(plantsPlugin),
      ...host.use(eventsPlugin),
      photos: host.use(photosPlugin),
    };
    const seeded = new SeededGarden(host, dependencies);
    return {
      exports: new GeneratedGarden(host, dependencies),
      seeds: [
        {
          name: 'garden',
          schema: gardenSeed,
          preflight: (garden: GardenSeed) => seeded.preflight(garden),
          load: (garden: GardenSeed) => seeded.load(garden),
        },
      ],
      welcome: (start) => welcome(host, dependencies.accounts, seeded, start),
    };
  },
});

export default demo;
