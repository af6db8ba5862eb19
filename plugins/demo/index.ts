import { definePlugin } from '../../src/plugins/define';
import accountsPlugin from '../accounts';
import eventsPlugin from '../events';
import photosPlugin from '../photos';
import plantsPlugin from '../plants';
import { commands } from './commands';
import { DemoGarden } from './demo-garden';
import { type GardenSeed, gardenSeed } from './garden-seed';
import { SeededGarden } from './seeded-garden';
import { welcome } from './welcome';

/** Gardens to try the service with: a small one that was written by hand, and large made-up ones. */
const demo = definePlugin<DemoGarden>({
  name: 'demo',
  requires: ['accounts', 'events', 'photos', 'plants'],
  commands: (commandLine) => {
    commands(commandLine, demo);
  },
  setup: (host) => {
    const parts = {
      accounts: host.offers(accountsPlugin),
      plants: host.offers(plantsPlugin),
      ...host.offers(eventsPlugin),
      photos: host.offers(photosPlugin),
    };
    const seeded = new SeededGarden(host, parts);
    return {
      offers: new DemoGarden(host, parts),
      seeds: [
        {
          name: 'garden',
          schema: gardenSeed,
          obstacles: (garden: GardenSeed) => seeded.obstacles(garden),
          load: (garden: GardenSeed) => seeded.load(garden),
        },
      ],
      welcome: (url) => welcome(host, parts.accounts, url),
    };
  },
});

export default demo;
