import path from 'node:path';

import type { Command } from 'commander';

import { readArchive } from '../../app/backup/archive-reader';
import { createBackup } from '../../app/backup/create';
import { BackupFolder } from '../../app/backup/folder';
import { documentsIn, type Manifest } from '../../app/backup/manifest';
import { requireOwnVersion, restoreBackup } from '../../app/backup/restore';
import { hostSettings } from '../../core/settings/host-settings';
import type { CommandRunner } from '../command-line';
import { withProgress } from '../progress';
import { counted, table } from '../table';

/** Adds `backup create`, `backup verify` and `backup restore`. */
export function backupCommands(commandLine: CommandRunner): void {
  const parent = commandLine.program
    .command('backup')
    .summary('archive all data, check an archive, and restore one')
    .description('Archives all data, checks an archive, and restores one.');
  createCommand(commandLine, parent);
  verifyCommand(commandLine, parent);
  restoreCommand(commandLine, parent);
}

function createCommand(commandLine: CommandRunner, parent: Command): void {
  parent
    .command('create')
    .summary('archive all data as it is at one moment')
    .description(
      `Archives all data as it is at one moment, whatever is written meanwhile; the server may run. Data of another version is archived as it is, with nothing about it in the audit log. The archive is a tar, compressed by gzip, of BSON files and a manifest with counts and SHA-256. Only its owner may read it, and it gets its name once it is whole.`,
    )
    .argument(
      '[file]',
      'a file that is not there yet; by default one in BACKUP_DIR with the date in its name',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- backup create
  $ npm run --silent cli -- backup create /mnt/backups/today.tar.gz --json
  {"file":"/mnt/backups/today.tar.gz","bytes":71204,"moment":"2026-03-01T10:30:00.000Z",
   "documents":5120}     printed as one line`,
    )
    .action((given: string | undefined) =>
      commandLine.runHost(
        async ({ app, servers: { mongodbUri } }) => {
          const { settings } = app;
          const file = given ?? (await new BackupFolder(settings).nextFile({ scheduled: false }));
          const isManaged = settings.of(hostSettings.mongodbUri) === undefined;
          const made = await withProgress('Documents', (onDocuments) =>
            createBackup({ mongodbUri, isManaged, file: path.resolve(file), onDocuments }),
          );
          // Data of another version is read, and nothing of it is written.
          if (await app.schema.fits()) {
            await app.audit.record({
              action: 'backup.created',
              target: { type: 'backup', id: made.file },
              changes: { bytes: made.bytes, documents: made.documents },
            });
          }
          const size = `${counted(made.documents, 'document')}, ${counted(made.bytes, 'byte')}`;
          return { result: made, text: `${made.file} has all of ${made.moment}: ${size}.` };
        },
        { leaveSchema: true },
      ),
    );
}

function verifyCommand(commandLine: CommandRunner, parent: Command): void {
  parent
    .command('verify')
    .summary('check that an archive is whole and unaltered')
    .description(
      `Reads an archive from its beginning to its end and compares it with its manifest. Starts no server.`,
    )
    .argument('<file>', 'the archive')
    .addHelpText(
      'after',
      `
Exit codes:
  0  it is whole and as it was written
  1  it is not, or cannot be read

Examples:
  $ npm run --silent cli -- backup verify /mnt/backups/today.tar.gz
  $ npm run --silent cli -- backup verify /mnt/backups/today.tar.gz --json
  {"file":"/mnt/backups/today.tar.gz","moment":"…","version":"1.1.0","documents":5120,
   "collections":{"accounts":2,…}}     printed as one line`,
    )
    .action(async (given: string) => {
      const file = path.resolve(given);
      const manifest = await verified(file);
      const { moment, program, collections } = manifest;
      const { version } = program;
      const counts = collections.map((each): [string, number] => [each.name, each.documents]);
      const rows = counts.map(([name, count]) => [name, String(count)]);
      const documents = documentsIn(manifest);
      commandLine.print({
        result: { file, moment, version, documents, collections: Object.fromEntries(counts) },
        text: `${table(['collection', 'documents'], rows)}\n${file} is whole: ${counted(documents, 'document')} of ${moment}, written by release ${version}.`,
      });
    });
}

function restoreCommand(commandLine: CommandRunner, parent: Command): void {
  parent
    .command('restore')
    .summary('put what is in an archive into an empty database')
    .description(
      `Checks an archive as verify does, then puts all that is in it into an empty database: that of another DATA_DIR, or of a MONGODB_URI. Stop the servers of that database before. Until all is there, servers and commands refuse to work on it; where a restore was interrupted, the same command starts over. Data of an earlier version stays so, for servers of that version; the start of one of this version, or migrate up, brings it up to this one.`,
    )
    .argument('<file>', 'the archive')
    .addHelpText(
      'after',
      `
Examples:
  $ DATA_DIR=./new npm run --silent cli -- backup restore /mnt/backups/today.tar.gz
  $ DATA_DIR=./new npm run --silent cli -- backup restore /mnt/backups/today.tar.gz --json
  {"file":"/mnt/backups/today.tar.gz","moment":"…","documents":5120}     printed as one line`,
    )
    .action(async (given: string) => {
      const file = path.resolve(given);
      const manifest = await verified(file);
      requireOwnVersion(manifest);
      await commandLine.runHost(
        async ({ app, servers: { mongodbUri } }) => {
          const documents = documentsIn(manifest);
          const { isOlder } = await withProgress('Documents', (advance) => {
            const onDocuments = (count: number): void => {
              advance(count, documents);
            };
            return restoreBackup({ mongodbUri, app, file, manifest, onDocuments });
          });
          const { moment } = manifest;
          return {
            result: { file, moment, documents },
            text: `${counted(documents, 'document')} of ${moment} were restored from ${file}. Tokens that were revoked since and accounts that were deleted since are back: revoke and delete them again.${isOlder ? OLDER : ''}`,
          };
        },
        { restoring: true },
      );
    });
}

const OLDER =
  ' It is as an earlier version wrote it: a server of this version brings it up to date when it starts, as `migrate up` does.';

/** Returns the manifest of an archive that was read to its end. */
function verified(file: string): Promise<Manifest> {
  return withProgress('Checking', (onBytes) => readArchive(file, { onBytes }));
}
