import type { SchemaStatus } from '../../data/schema/stored-schema';
import type { CommandResult } from '../../plugins/command';
import type { CommandRunner } from '../command-line';
import { EXIT } from '../exit-codes';
import { OperatorError } from '../../core/errors';
import { counted, table } from '../table';

export function migrateCommands(commandLine: CommandRunner): void {
  const parent = commandLine.program
    .command('migrate')
    .summary('migrate the data to this release')
    .description('Migrates data of the previous release to this one.');
  parent
    .command('status')
    .summary('show applied and missing migrations and indexes')
    .description(
      'Shows the applied migrations, and which migrations and indexes are missing. It changes nothing and can run while servers are running.',
    )
    .addHelpText(
      'after',
      `
Exit codes:
  0  the data is up to date
  1  migrations or indexes are missing, or the data is of a newer release

Examples:
  $ npm run --silent cli -- migrate status
  $ npm run --silent cli -- migrate status --json
  {"isNew":false,"applied":[{"migration":"records/0001-revisions","finishedAt":"…"}],"pending":[],
   "collections":[],"indexes":[],"isUpToDate":true}     printed as one line`,
    )
    .action(() =>
      commandLine.runHost(async ({ app }) => statusResult(await app.schema.status()), {
        access: 'read',
        leaveSchema: true,
      }),
    );
  parent
    .command('up')
    .summary('run the missing migrations')
    .description(
      'Runs the missing migrations, then drops and creates indexes. An interrupted migration resumes where it stopped. The server does the same when it starts, so use this command to migrate the data of MONGODB_URI before you replace servers. Servers of the previous release stop writing.',
    )
    .option('--dry-run', 'show what is missing without changing anything')
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
              throw new OperatorError(
                'A server is running on this data: restart it with this release to migrate the data.',
              );
            }
            const report = (line: string): unknown => process.stderr.write(`${line}\n`);
            await app.recordMigrations(await app.schema.update(report));
          }
          const done = dryRun ? 'missing' : 'done';
          return {
            result: { migrations: pending, indexes, dryRun },
            text: isUpToDate ? 'Nothing is missing.' : missing({ pending, indexes }, done),
          };
        },
        { access: dryRun ? 'read' : 'change', leaveSchema: true },
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
    ...made.map((name) => [collection, 'create index on', name]),
    ...obsolete.map((name) => [collection, 'drop index', name]),
  ]);
  const rows = [...pending.map((migration) => ['', 'migrate', migration]), ...changes];
  const summary = `${counted(pending.length, 'migration')} and ${counted(changes.length, 'index change')} ${state}.`;
  return `${table(['collection', 'work', 'name'], rows)}\n${summary}`;
}
