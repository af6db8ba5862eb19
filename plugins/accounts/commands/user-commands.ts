import type { Command } from 'commander';

import { table } from '../../../src/cli/table';
import { tierOption, timezone, userName } from '../../../src/cli/values';
import { UsageError } from '../../../src/cli/exit-codes';
import type { Account, Tier } from '../../../src/core/identity';
import type { CommandLine } from '../../../src/plugins/command';
import type { PluginReference } from '../../../src/plugins/host';
import type { Accounts } from '../accounts';
import { deleteUser, exportUser } from './user-data-commands';

/** Adds the commands of `user`. */
export function userCommands(commandLine: CommandLine, plugin: PluginReference<Accounts>): void {
  const parent = commandLine.program
    .command('user')
    .summary('list, show, change, export and delete accounts')
    .description('Lists, shows, changes, exports and deletes accounts.');
  listUsers(parent, commandLine, plugin);
  showUser(parent, commandLine, plugin);
  setUser(parent, commandLine, plugin);
  exportUser(parent, commandLine, plugin);
  deleteUser(parent, commandLine, plugin);
}

function listUsers(
  parent: Command,
  commandLine: CommandLine,
  plugin: PluginReference<Accounts>,
): void {
  parent
    .command('list')
    .summary('list accounts')
    .description('Lists all accounts, with their usage.')
    .addHelpText('after', '\nExample:\n  $ npm run --silent cli -- user list --json')
    .action(() =>
      commandLine.read(async (app) => {
        const accounts = await app.exportsOf(plugin).lists.accounts();
        const rows = accounts.map(({ id, tier, timezone: zone, usage }) => [
          id,
          tier,
          zone,
          usageText(usage),
        ]);
        return {
          result: accounts.map(userView),
          text:
            rows.length > 0 ? table(['user', 'tier', 'timezone', 'usage'], rows) : 'No accounts.',
        };
      }),
    );
}

function showUser(
  parent: Command,
  commandLine: CommandLine,
  plugin: PluginReference<Accounts>,
): void {
  parent
    .command('show')
    .summary('show an account')
    .description(
      'Shows an account: tier, time zone, language, time of reminders, usage and number of tokens.',
    )
    .argument('<user>', 'the user', userName)
    .addHelpText('after', '\nExample:\n  $ npm run --silent cli -- user show ada')
    .action((userId: string) =>
      commandLine.read(async (app) => {
        const accounts = app.exportsOf(plugin);
        const account = await accounts.requireUser(userId);
        const tokens = await accounts.tokens.tokens(userId);
        return {
          result: { ...userView(account), tokens: tokens.length },
          text: `${accountText(account)}\nTokens    ${tokens.length}`,
        };
      }),
    );
}

function setUser(
  parent: Command,
  commandLine: CommandLine,
  plugin: PluginReference<Accounts>,
): void {
  parent
    .command('set')
    .summary('change an account')
    .description(
      `Changes the tier or the time zone of an account. Logged events keep the calendar day that they had in the previous time zone.`,
    )
    .argument('<user>', 'the user', userName)
    .addOption(tierOption('the tier'))
    .option('--timezone <name>', 'an IANA name, such as Europe/Paris', timezone)
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run --silent cli -- user set ada --tier pro --timezone Europe/Paris',
    )
    .action(async (userId: string, changes: { tier?: Tier; timezone?: string }) => {
      if (Object.keys(changes).length === 0) {
        throw new UsageError('Say what to set: --tier, --timezone or both.');
      }
      await commandLine.change(async (app) => {
        const accounts = app.exportsOf(plugin);
        await accounts.requireUser(userId);
        const account = await accounts.changeAccount(userId, changes);
        return { result: userView(account), text: accountText(account) };
      });
    });
}

function userView({ id, tier, timezone: zone, language, remindAt, usage }: Account) {
  return { user: id, tier, timezone: zone, language, remindAt, usage };
}

function accountText({ id, tier, timezone: zone, language, remindAt, usage }: Account): string {
  const preferences = { Timezone: zone, Language: language, Reminder: remindAt ?? 'never' };
  const facts = { User: id, Tier: tier, ...preferences, Usage: usageText(usage) };
  return Object.entries(facts)
    .map(([name, value]) => name.padEnd(10) + value)
    .join('\n');
}

function usageText(usage: Account['usage']): string {
  const parts = Object.entries(usage).map(([quota, count]) => `${quota} ${count}`);
  return parts.length > 0 ? parts.join(', ') : 'nothing yet';
}
