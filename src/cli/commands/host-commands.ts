import { Option } from 'commander';

import { UsageError, EXIT } from '../exit-codes';
import type { CommandResult } from '../../plugins/command';
import { reconcile, type Reconciliation } from '../../app/reconcile';
import { loadSeeds, SEEDS_FOLDER } from '../../app/seeds';
import { auditCommands } from './audit-commands';
import { backupCommands } from './backup-commands';
import type { CommandRunner } from '../command-line';
import { configCommands } from './config-commands';
import { doctorCommand } from './doctor-command';
import { migrateCommands } from './migrate-commands';
import { withProgress } from '../progress';
import { counted, table } from '../table';

/** Adds the commands that belong to no plugin. */
export function hostCommands(commandLine: CommandRunner): void {
  seedCommand(commandLine);
  reconcileCommand(commandLine);
  migrateCommands(commandLine);
  backupCommands(commandLine);
  doctorCommand(commandLine);
  auditCommands(commandLine);
  configCommands(commandLine);
}

function seedCommand(commandLine: CommandRunner): void {
  commandLine.program
    .command('seed')
    .summary('load seed data from JSON files')
    .description(
      `Loads every .json file of a folder. Checks all files first, and loads nothing if one has a fault. Loading the same files again adds nothing.`,
    )
    .argument('[folder]', 'the folder of the files', SEEDS_FOLDER)
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- seed
  $ npm run --silent cli -- seed ./my-seeds --json

With --json, prints an object: the number of new records by file name, without .json.`,
    )
    .action((folder: string) =>
      commandLine.runHost(async ({ app }) => {
        const added = await loadSeeds(app, folder);
        const rows = Object.entries(added).map(([name, count]) => [name, String(count)]);
        return { result: added, text: table(['seeds', 'new records'], rows) };
      }),
    );
}

function reconcileCommand(commandLine: CommandRunner): void {
  commandLine.program
    .command('reconcile')
    .summary('check and repair derived data')
    .description(
      `Recomputes the derived data of every account, such as counts by day and usage of quotas, and prints each difference from what is stored. It can run while the server is running.`,
    )
    .addOption(
      new Option('--check', 'report differences without changing anything').conflicts('repair'),
    )
    .option('--repair', 'repair all differences')
    .addHelpText(
      'after',
      `
Exit codes:
  0  no differences, or --repair repaired them
  1  --check found a difference, or an account could not be recomputed

Examples:
  $ npm run --silent cli -- reconcile --check
  $ npm run --silent cli -- reconcile --repair --json
  {"checked":2,"differences":[{"user":"ada","derived":"day counts",
   "difference":"… should be …"}],"failures":[],"repaired":true}     printed as one line`,
    )
    .action(async ({ check = false, repair = false }: { check?: boolean; repair?: boolean }) => {
      if (check === repair) throw new UsageError('Use either --check or --repair.');
      await commandLine.runHost(
        async ({ app }) =>
          reconciliation(
            await withProgress('Accounts', (advance) =>
              reconcile(app, {
                repair,
                onAccount: (total) => {
                  advance(1, total);
                },
              }),
            ),
          ),
        { access: repair ? 'change' : 'read' },
      );
    });
}

function reconciliation(found: Reconciliation): CommandResult {
  const { checked, differences, failures, repaired } = found;
  const outcome = repaired ? 'repaired' : 'found';
  const summary = `${counted(checked, 'account')} checked, ${counted(differences.length, 'difference')} ${outcome}.`;
  const rows = differences.map(({ user, derived, difference }) => [user, derived, difference]);
  const failed = failures.map(({ user, reason }) => `${user} could not be recomputed: ${reason}.`);
  const isGood = failures.length === 0 && (repaired || rows.length === 0);
  return {
    result: found,
    text: [
      ...(rows.length === 0 ? [] : [table(['user', 'data', 'difference'], rows)]),
      ...failed,
      summary,
    ].join('\n'),
    exitCode: isGood ? EXIT.done : EXIT.failed,
  };
}
