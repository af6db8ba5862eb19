import type { SchemaStatus } from '../../data/schema/stored-schema';
import type { CommandResult } from '../../plugins/command';
import type { CommandRunner } from '../command-line';
import { CommandError } from '../errors';
import { EXIT } from '../exit-codes';
import { counted, table } from '../table';

/** Adds `migrate status` and `migrate up`. */
export function migrateCommands(commandLine: CommandRunner): void {
  const parent = commandLine.program
    .command('migrate')
    .summary('bring data of an earlier version up to this one')
    .description('Brings data of an earlier version up to this one.');
  parent
    .command('status')
    .summary('show which migrations and indexes are missing')
    .description(
      'Shows which migrations were done, and which migrations and indexes are missing. Changes nothing, whoever uses the data meanwhile.',
    )
    .addHelpText(
      'after',
      `
Exit codes:
  0  the data is as this version needs it
  1  something is missing, or a newer version wrote the data

Examples:
  $ npm run --silent cli -- migrate status
  $ npm run --silent cli -- migrate status --json
  {"isNew":false,"applied":[{"migration":"records/0001-revisions","finishedAt":"…"}],"pending":[],
   "collections":[],"indexes":[],"isUpToDate":true}     printed as one line`,
    )
    .action(() =>
      commandLine.runHost(async ({ app }) => statusResult(await app.schema.status()), {
        leaveSchema: true,
      }),
    );
  parent
    .command('up')
    .summary('do what is missing')
    .description(
      'Does the migrations that are missing, then drops and makes indexes; what was interrupted goes on where it was. The server does the same when it starts, so this is for a MongoDB of MONGODB_URI whose servers are to start at once. Servers of an earlier version write nothing from then on; those of 1.0.0, which would, are stopped before.',
    )
    .option('--dry-run', 'change nothing, and show what is missing')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- migrate up --dry-run
  $ npm run --silent cli -- migrate up --json
  {"migrations":["records/0001-revisions"],"indexes":[],"dryRun":false}     printed as one line`,
    )
    .action(({ dryRun = false }: { dryRun?: boolean }) =>
      commandLine.runHost(
        async ({ app, servers }) => {
          const { pending, indexes, isUpToDate } = await app.schema.status();
          if (!dryRun && !isUpToDate) {
            if (servers.isServed === true) {
              throw new CommandError(
                'A server runs on this data and migrates it when it starts: restart one of an earlier version.',
              );
            }
            const report = (line: string): unknown => process.stderr.write(`${line}\n`);
            await app.recordMigrations(await app.schema.update(report));
          }
          const done = dryRun ? 'to be done' : 'done';
          return {
            result: { migrations: pending, indexes, dryRun },
            text: isUpToDate ? 'Nothing is missing.' : missing({ pending, indexes }, done),
          };
        },
        { leaveSchema: true },
      ),
    );
}

function statusResult(status: SchemaStatus): CommandResult {
  const { applied, isUpToDate } = status;
  const rows = applied.map(({ migration, finishedAt }) => [migration, finishedAt.toISOString()]);
  const summary = isUpToDate ? 'Nothing is missing.' : missing(status, 'missing');
  return {
    result: status,
    text: `${table(['migration', 'done'], rows)}\n${summary}`,
    exitCode: isUpToDate ? EXIT.done : EXIT.failed,
  };
}

function missing(
  { pending, indexes }: Pick<SchemaStatus, 'pending' | 'indexes'>,
  state: string,
): string {
  const changes = indexes.flatMap(({ collection, missing: made, obsolete }) => [
    ...made.map((name) => [collection, 'make the index on', name]),
    ...obsolete.map((name) => [collection, 'drop the index', name]),
  ]);
  const rows = [...pending.map((migration) => ['', 'migrate', migration]), ...changes];
  const summary = `${counted(pending.length, 'migration')} and ${counted(changes.length, 'change')} of indexes ${state}.`;
  return `${table(['collection', 'work', 'name'], rows)}\n${summary}`;
}
