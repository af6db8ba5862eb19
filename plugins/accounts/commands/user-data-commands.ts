import type { Command } from 'commander';

import { UsageError } from '../../../src/cli/exit-codes';
import { table } from '../../../src/cli/table';
import { userName } from '../../../src/cli/values';
import type { CommandLine } from '../../../src/plugins/command';
import type { PluginReference } from '../../../src/plugins/host';
import type { Accounts } from '../accounts';
import type { Counts } from '../personal-data';
import { unknownUser } from '../errors';

/** Adds `user export`. */
export function exportUser(
  parent: Command,
  commandLine: CommandLine,
  plugin: PluginReference<Accounts>,
): void {
  parent
    .command('export')
    .summary('print all data of a user')
    .description(
      `Prints all data of a user as JSON: the account, its tokens without secrets, the records of each collection, and the account's entries in the audit log. It is not a snapshot: each record is read on its own.`,
    )
    .argument('<user>', 'the user', userName)
    .addHelpText('after', '\nExample:\n  $ npm run --silent cli -- user export ada > ada.json')
    .action((userId: string) =>
      commandLine.read(async (app) => {
        const pieces = await app.exportsOf(plugin).data.exportUser(userId);
        if (!pieces) throw unknownUser(userId);
        return { pieces: () => pieces };
      }),
    );
}

/** Adds `user delete`. */
export function deleteUser(
  parent: Command,
  commandLine: CommandLine,
  plugin: PluginReference<Accounts>,
): void {
  parent
    .command('delete')
    .summary('delete an account and all of its data')
    .description(
      `Permanently deletes a user's account, tokens and records. Its tokens are refused at once. If it is interrupted, run it again. The audit log keeps its entries, under a pseudonym.`,
    )
    .argument('<user>', 'the user', userName)
    .option('--confirm <user>', "the user's name again, to confirm", userName)
    .option('--dry-run', 'delete nothing, and print the number of records')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- user delete ada --dry-run
  $ npm run --silent cli -- user delete ada --confirm ada --json
  {"user":"ada","dryRun":false,"records":{"accounts":1,"tokens":2,…}}     printed as one line`,
    )
    .action(
      async (
        userId: string,
        { confirm, dryRun = false }: { confirm?: string; dryRun?: boolean },
      ) => {
        if (confirm !== userId && (!dryRun || confirm !== undefined)) {
          throw new UsageError(
            `To delete all data of ${userId}, add --confirm ${userId}; --dry-run shows how much that is.`,
          );
        }
        await commandLine[dryRun ? 'read' : 'change'](async (app) => {
          const accounts = app.exportsOf(plugin);
          const records = await accounts.data.counts(userId);
          if (!records) throw unknownUser(userId);
          if (!dryRun) {
            const bar = app.progress('Records', total(records));
            await accounts.data
              .deleteUser(userId, (count) => {
                bar.advance(count);
              })
              .finally(() => {
                bar.stop();
              });
          }
          return { result: { user: userId, dryRun, records }, text: textOf(records, dryRun) };
        });
      },
    );
}

function textOf(records: Counts, dryRun: boolean): string {
  const rows = Object.entries(records).map(([name, count]) => [name, String(count)]);
  const outcome = dryRun ? 'Nothing was deleted.' : 'Everything was deleted.';
  return `${table(['collection', 'records'], rows)}\n${outcome}`;
}

function total(records: Counts): number {
  return Object.values(records).reduce((sum, count) => sum + count, 0);
}
