import type { Command } from 'commander';

import { surfaceOf } from '../../app/surface';
import { auditLogCommands } from './audit-log-commands';
import type { CommandRunner } from '../command-line';
import { surfaceTables } from '../surface-tables';
import { table } from '../table';

export function auditCommands(commandLine: CommandRunner): void {
  const parent = commandLine.program
    .command('audit')
    .summary('show and check the audit log, list all operations')
    .description('Shows, exports and verifies the audit log; lists all operations.');
  auditLogCommands(parent, commandLine);
  listRoutes(parent, commandLine);
}

function listRoutes(parent: Command, commandLine: CommandRunner): void {
  parent
    .command('routes')
    .summary('list all operations, who may call them, and their data')
    .description(
      `Lists every endpoint, public ones first, with its access, rate limit budget, quota, tool and plugin. Then lists the middleware of operations, the plugins whose data they may access, and all collections with their indexes. Needs no server.`,
    )
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- audit routes
  $ npm run --silent cli -- audit routes --json

With --json, prints an object with the arrays endpoints, reach and collections, which include
reasons, JSON Schemas and the collections of each operation.`,
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
