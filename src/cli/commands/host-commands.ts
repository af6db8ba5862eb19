import { Option } from 'commander';

import { UsageError } from '../errors';
import type { CommandResult } from '../../plugins/command';
import { reconcile, type Reconciliation } from '../../app/reconcile';
import { loadSeeds, SEEDS_FOLDER } from '../../app/seeds';
import { auditCommands } from './audit-commands';
import { backupCommands } from './backup-commands';
import type { CommandRunner } from '../command-line';
import { configCommands } from './config-commands';
import { doctorCommand } from './doctor-command';
import { EXIT } from '../exit-codes';
import { migrateCommands } from './migrate-commands';
import { withProgress } from '../progress';
import { counted, table } from '../table';

/** Adds the commands that concern no plugin alone. */
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
    .summary('load seeds: data in JSON files that plugins know')
    .description(
      `Loads every .json file of a folder, after checking them all; a fault in one of them, and nothing is loaded. Loading the same files again adds nothing.`,
    )
    .argument('[folder]', 'the folder', SEEDS_FOLDER)
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- seed
  $ npm run --silent cli -- seed ./my-seeds --json

With --json it prints an object: how many records are new, by the name of the file.`,
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
    .summary('compare derived data with what it derives from')
    .description(
      `Recomputes all data that derives from other data, for every account: latest dates, totals, counts by day, what counts against the limits of the tier. Prints each difference from what is stored. It may run while the service does.`,
    )
    .addOption(new Option('--check', 'change nothing').conflicts('repair'))
    .option('--repair', 'put every difference right')
    .addHelpText(
      'after',
      `
Exit codes:
  0  nothing differs, or --repair put it right
  1  --check found a difference, or an account could not be recomputed

Examples:
  $ npm run --silent cli -- reconcile --check
  $ npm run --silent cli -- reconcile --repair --json
  {"checked":2,"differences":[{"user":"ada","derived":"day counts",
   "difference":"… should be …"}],"failures":[],"repaired":true}     printed as one line`,
    )
    .action(async ({ check = false, repair = false }: { check?: boolean; repair?: boolean }) => {
      if (check === repair) throw new UsageError('Say either --check or --repair.');
      await commandLine.runHost(async ({ app }) =>
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
      );
    });
}

function reconciliation(found: Reconciliation): CommandResult {
  const { checked, differences, failures, repaired } = found;
  const outcome = repaired ? 'put right' : 'found';
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
