import path from 'node:path';

import type { Command } from 'commander';

import { readArchive } from '../../app/backup/archive-reader';
import { createBackup } from '../../app/backup/create';
import { BackupFolder } from '../../app/backup/folder';
import { documentsIn, type Manifest } from '../../app/backup/manifest';
import { requireRestorable, restoreBackup } from '../../app/backup/restore';
import { hostSettings } from '../../core/settings/host-settings';
import { KnownMigrations } from '../../data/schema/fence';
import type { CommandRunner } from '../command-line';
import { OperatorError } from '../../core/errors';
import { withProgress } from '../progress';
import { counted, table } from '../table';

export function backupCommands(commandLine: CommandRunner): void {
  const parent = commandLine.program
    .command('backup')
    .summary('create, verify and restore archives of all data')
    .description('Creates, verifies and restores archives of all data.');
  createCommand(commandLine, parent);
  verifyCommand(commandLine, parent);
  restoreCommand(commandLine, parent);
}

function createCommand(commandLine: CommandRunner, parent: Command): void {
  parent
    .command('create')
    .summary('archive a snapshot of all data')
    .description(
      `Archives a consistent snapshot of all data; the server can keep running. Data of the previous or a newer release is archived as it is, without an audit entry. The archive is a gzip-compressed tar of BSON files and a manifest with counts and SHA-256 hashes. Only its owner can read it, and the file appears under its name only when it is complete.`,
    )
    .argument(
      '[file]',
      'the file to create (default: a file in BACKUP_DIR with the date in its name)',
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
          if (await app.schema.isEmpty()) {
            throw new OperatorError('The database is empty: there is nothing to archive.');
          }
          await app.schema.requireNotTooOld();
          const file = given ?? (await new BackupFolder(settings).nextFile({ scheduled: false }));
          const isManaged = settings.of(hostSettings.mongodbUri) === undefined;
          const made = await withProgress('Documents', (onDocuments) =>
            createBackup({ mongodbUri, isManaged, file: path.resolve(file), onDocuments }),
          );
          // Data of another release is only read.
          if (await app.schema.fits()) {
            await app.audit.record({
              action: 'backup.created',
              target: { type: 'backup', id: made.file },
              changes: { bytes: made.bytes, documents: made.documents },
            });
          }
          const size = `${counted(made.documents, 'document')}, ${counted(made.bytes, 'byte')}`;
          return { result: made, text: `${made.file} holds all data of ${made.moment}: ${size}.` };
        },
        { access: 'read', leaveSchema: true },
      ),
    );
}

function verifyCommand(commandLine: CommandRunner, parent: Command): void {
  parent
    .command('verify')
    .summary('check that an archive is complete and unaltered')
    .description(`Reads a whole archive and compares it with its manifest. Needs no server.`)
    .argument('<file>', 'the archive')
    .addHelpText(
      'after',
      `
Exit codes:
  0  the archive is complete and unaltered
  1  it is damaged, or cannot be read

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
        text: `${table(['collection', 'documents'], rows)}\n${file} is intact: ${counted(documents, 'document')} of ${moment}, written by release ${version}.`,
      });
    });
}

function restoreCommand(commandLine: CommandRunner, parent: Command): void {
  parent
    .command('restore')
    .summary('restore an archive into an empty database')
    .description(
      `Verifies an archive, then restores it into an empty database: that of a new DATA_DIR, or of MONGODB_URI. Stop the servers of that database first. Until the restore is complete, servers and commands refuse the database; if it is interrupted, the same command starts over. Data of the previous release is not migrated; the next server of this release does that, or migrate up.`,
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
      requireRestorable(manifest, new KnownMigrations(commandLine.plugins));
      await commandLine.runHost(
        async ({ app, servers: { mongodbUri } }) => {
          const documents = documentsIn(manifest);
          const { isOlder } = await withProgress('Documents', (advance) => {
            const onDocuments = (count: number): void => {
              advance(count, documents);
            };
            return restoreBackup({ mongodbUri, app, file, onDocuments });
          });
          const { moment } = manifest;
          return {
            result: { file, moment, documents },
            text: `Restored ${counted(documents, 'document')} of ${moment} from ${file}. Tokens revoked and accounts deleted since then are back: revoke and delete them again.${isOlder ? OLDER : ''}`,
          };
        },
        { restoring: true },
      );
    });
}

const OLDER =
  ' The data is from an earlier release: the next start of the server migrates it, or run `migrate up`.';

function verified(file: string): Promise<Manifest> {
  return withProgress('Checking', (onBytes) => readArchive(file, { onBytes }));
}
