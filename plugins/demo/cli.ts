import { randomInt } from 'node:crypto';

import { counted } from '../../src/cli/table';
import { newUserName, tierOption, wholeNumber } from '../../src/cli/values';
import type { CommandLine, ProgressBar } from '../../src/plugins/command';
import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import eventsPlugin from '../events';
import oauthPlugin from '../oauth';
import photosPlugin from '../photos';
import plantsPlugin from '../plants';
import transferPlugin from '../transfer';
import { type GardenOptions, writeGarden } from './generated-garden';
import { type GardenSeed, gardenSeed } from './seed';
import { SeededGarden } from './seeded-garden';
import { welcome } from './welcome';

interface Demo {
  write: (options: GardenOptions, bar: ProgressBar) => ReturnType<typeof writeGarden>;
}

/** Gardens to try the service with: a small one in `seeds/`, and generated ones of any size. */
const demo = definePlugin<Demo>({
  name: 'demo',
  requires: ['accounts', 'events', 'oauth', 'photos', 'plants', 'transfer'],
  commands,
  setup: (host) => {
    const dependencies = {
      accounts: host.use(accountsPlugin),
      plants: host.use(plantsPlugin),
      events: host.use(eventsPlugin).events,
      photos: host.use(photosPlugin),
    };
    const { gardens } = host.use(transferPlugin);
    const garden = new SeededGarden(host, { ...dependencies, gardens });
    const people = { accounts: dependencies.accounts, oauth: host.use(oauthPlugin), garden };
    return {
      exports: { write: (options, bar) => writeGarden(host, dependencies, options, bar) },
      seeds: [
        {
          name: 'garden',
          schema: gardenSeed,
          preflight: (seed: GardenSeed) => garden.preflight(seed),
          load: (seed: GardenSeed) => garden.load(seed),
        },
      ],
      onFirstStart: (start) => welcome(host, people, start),
    };
  },
});

export default demo;

function commands(commandLine: CommandLine): void {
  commandLine.program
    .command('demo')
    .summary('generate a demo garden')
    .description(
      'Adds generated plants with years of events to an account, which is created if it does not exist. Adds photos as far as the quota allows. The same seed on the same day generates the same garden.',
    )
    .requiredOption('--user <user>', 'the account, 1 to 128 characters', newUserName)
    .addOption(tierOption("set the account's tier; a new account is free by default"))
    .requiredOption('--plants <count>', 'number of plants', wholeNumber(1, 1_000_000))
    .requiredOption(
      '--events <count>',
      'number of events over all plants',
      wholeNumber(0, 100_000_000),
    )
    .option(
      '--seed <number>',
      'seed of the generator (default: random)',
      wholeNumber(0, 2 ** 32 - 1),
    )
    .addHelpText(
      'after',
      `
It writes nothing if the quotas of the tier have no room for so many plants or events.

Example:
  $ npm run --silent cli -- demo --user ada --tier pro --plants 100 --events 20000 --json
  {"user":"ada","plants":100,"events":20000,"photos":300,"seconds":1.2}`,
    )
    .action((options: Omit<GardenOptions, 'seed'> & { seed?: number }) =>
      commandLine.run(async (app) => {
        const start = performance.now();
        const bar = app.progress('Events', options.events);
        const written = await app
          .exportsOf(demo)
          .write({ seed: randomInt(2 ** 32), ...options }, bar)
          .finally(() => {
            bar.stop();
          });
        const seconds = Math.round((performance.now() - start) / 100) / 10;
        const { user, plants, events, photos } = written;
        const parts = `${counted(plants, 'plant')}, ${counted(events, 'event')}, ${counted(photos, 'photo')}`;
        return {
          result: { ...written, seconds },
          text: `Added ${parts} to ${user} in ${seconds} s.`,
        };
      }),
    );
}
