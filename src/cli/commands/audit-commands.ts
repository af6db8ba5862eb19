import type { Command } from 'commander';

import { surfaceOf } from '../../app/surface';
import { auditLogCommands } from './audit-log-commands';
import type { CommandRunner } from '../command-line';
import { surfaceTables } from '../surface-tables';
import { table } from '../table';

/** Adds the commands of `audit`. */
export function auditCommands(commandLine: CommandRunner): void {
  const parent = commandLine.program
    .command('audit')
    .summary('show what an auditor asks for')
    .description('Shows what an auditor asks for.');
  auditLogCommands(parent, commandLine);
  listRoutes(parent, commandLine);
}

function listRoutes(parent: Command, commandLine: CommandRunner): void {
  parent
    .command('routes')
    .summary('list every operation with who may call it, and the data behind it')
    .description(
      `Lists all that can be called from outside, the public first: who may call it, which rate budget and quota it spends, which tiers have it, its tool, and its plugin; then the steps that a request passes, which plugins' collections a call may reach, and the indexes of all collections. Starts no server.`,
    )
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- audit routes
  $ npm run --silent cli -- audit routes --json

With --json it prints an object with the lists endpoints, reach and collections: with reasons,
JSON Schemas and the collections of each operation.`,
    )
    .action(() => {
      commandLine.runOffline((app) => {
        const surface = surfaceOf(app);
        const tables = surfaceTables(surface).map(
          ({ title, headings, rows }) => `${title}\n\n${table(headings, rows, ' ')}`,
        );
        return { result: surface, text: tables.join('\n\n') };
      });
    });
}
