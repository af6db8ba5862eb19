import type { Command } from 'commander';

import { duration, newUserName, tierOption } from '../../../src/cli/values';
import type { Tier } from '../../../src/core/identity';
import type { CommandLine } from '../../../src/plugins/command';
import type { PluginReference } from '../../../src/plugins/host';

import type { SignIns } from './sign-ins';

const DAY_SECONDS = 86_400;

/** Adds `user invite`. */
export function invite(
  parent: Command,
  commandLine: CommandLine,
  plugin: PluginReference<SignIns>,
): void {
  parent
    .command('invite')
    .summary('invite somebody to sign up, or back in')
    .description(
      `Prints a link that creates the account of this name or, if it exists, sets a new password or passkey: the way back in for people who have lost theirs. The link is shown once, works once, and replaces the previous one.`,
    )
    .argument('<user>', 'the name of the account', newUserName)
    .addOption(tierOption('the tier of the account, if it is created'))
    .option(
      '--expires-in <duration>',
      'how long the link works: seconds, or 15m, 24h, 90d',
      duration(60, 90 * DAY_SECONDS),
      7 * DAY_SECONDS,
    )
    .addHelpText(
      'after',
      `
Example:
  $ npm run --silent cli -- user invite ada --tier pro --json
  {"user":"ada","link":"https://plants.example.com/sign-up?invite=…"}     printed as one line`,
    )
    .action(async (name: string, { tier, expiresIn }: { tier?: Tier; expiresIn: number }) => {
      await commandLine.run(async (app) => {
        const link = await app.exportsOf(plugin).invite(name, tier, expiresIn);
        return { result: { user: name, link }, text: link };
      });
    });
}
