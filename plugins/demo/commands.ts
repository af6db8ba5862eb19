import { randomInt } from 'node:crypto';

import { counted } from '../../src/cli/table';
import { newUserName, tierOption, wholeNumber } from '../../src/cli/values';
import type { Tier } from '../../src/core/identity';
import type { CommandLine } from '../../src/plugins/command';
import type { PluginReference } from '../../src/plugins/reference';
import type { GeneratedGarden } from './generated/generated-garden';

const MAX_SEED = 2 ** 32 - 1;
const MAX_PLANTS = 1_000_000;
const MAX_EVENTS = 100_000_000;

interface Options {
  user: string;
  tier?: Tier;
  plants: number;
  events: number;
  seed?: number;
}

/** Adds `demo`. */
export function commands(commandLine: CommandLine, plugin: PluginReference<GeneratedGarden>): void {
  commandLine.program
    .command('demo')
    .summary('write a made-up garden with a long history')
    .description(
      `Adds plants with years of made-up care to an account, which is made when there is none: waterings, feedings, repotting, growth, notes, and photos as far as the tier has room for them. With the same seed on the same day, the same garden again.`,
    )
    .requiredOption('--user <user>', 'whose garden, 1 to 128 characters', newUserName)
    .addOption(tierOption("set the account's tier; a new account is free without it"))
    .requiredOption('--plants <count>', 'how many plants', wholeNumber(1, MAX_PLANTS))
    .requiredOption(
      '--events <count>',
      'how many events, over all plants',
      wholeNumber(0, MAX_EVENTS),
    )
    .option(
      '--seed <number>',
      'what the garden is made up from; any when left out',
      wholeNumber(0, MAX_SEED),
    )
    .addHelpText(
      'after',
      `
It fails, before it writes anything, when the tier has no room for so many plants or events.

Example:
  $ npm run --silent cli -- demo --user ada --tier pro --plants 100 --events 20000 --json
  {"user":"ada","plants":100,"events":20000,"photos":300,"seconds":1.2}`,
    )
    .action((options: Options) =>
      commandLine.run(async (app) => {
        const start = performance.now();
        const bar = app.progress('Events', options.events);
        const { seed = randomInt(MAX_SEED) } = options;
        const written = await app
          .exportsOf(plugin)
          .write({ ...options, seed }, bar)
          .finally(() => {
            bar.stop();
          });
        const seconds = Math.round((performance.now() - start) / 100) / 10;
        const { user, plants, events, photos } = written;
        const parts = [
          counted(plants, 'plant'),
          counted(events, 'event'),
          counted(photos, 'photo'),
        ];
        return {
          result: { ...written, seconds },
          text: `${user} has ${parts.join(', ')} more, written in ${seconds} s.`,
        };
      }),
    );
}
