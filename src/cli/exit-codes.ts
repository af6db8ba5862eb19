import { CommanderError } from 'commander';

import { isConnectionError, RightsError } from '../data/mongodb-errors';
import { UnfinishedRestoreError } from '../data/restore-marker';
import { SchemaError } from '../data/schema/migration';
import { BackupError } from '../app/backup/errors';
import { ApiError } from '../core/errors';
import { CommandError, UsageError } from './errors';
import { LoaderError } from '../plugins/loader';
import { SeedError } from '../app/seeds';
import { ServersError } from '../servers';
import { SettingsError } from '../core/settings';

/** How commands end, as shells see it. */
export const EXIT = { done: 0, failed: 1, wrongUse: 2 } as const;

/** Errors that are no fault of the program, and whose message is for the operator. */
const EXPECTED = [
  BackupError,
  CommandError,
  UnfinishedRestoreError,
  LoaderError,
  RightsError,
  SchemaError,
  SeedError,
  ServersError,
  ApiError,
];

/** How a command ends that threw `error`, and what to say of it. */
export function exitOf(error: unknown): { exitCode: number; message?: string } {
  if (error instanceof CommanderError) {
    // Commander has said what there is to say; asking for help is not an error.
    return { exitCode: error.exitCode === 0 ? EXIT.done : EXIT.wrongUse };
  }
  if (error instanceof UsageError || error instanceof SettingsError) {
    return { exitCode: EXIT.wrongUse, message: error.message };
  }
  return { exitCode: EXIT.failed, message: messageOf(error) };
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (EXPECTED.some((kind) => error instanceof kind)) return error.message;
  if (isConnectionError(error)) return `MongoDB cannot be reached: ${error.message}`;
  return error.stack ?? error.message;
}
