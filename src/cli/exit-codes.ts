import { CommanderError } from 'commander';

import { ApiError, OperatorError } from '../core/errors';
import { SettingsError } from '../core/settings/settings';
import { isConnectionError } from '../data/mongodb/errors';

export const EXIT = { done: 0, failed: 1, wrongUse: 2 } as const;

export function exitOf(error: unknown): { exitCode: number; message?: string } {
  if (error instanceof CommanderError) {
    // Commander has printed its message; --help is not an error.
    return { exitCode: error.exitCode === 0 ? EXIT.done : EXIT.wrongUse };
  }
  if (error instanceof UsageError || error instanceof SettingsError) {
    return { exitCode: EXIT.wrongUse, message: error.message };
  }
  return { exitCode: EXIT.failed, message: messageOf(error) };
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof OperatorError || error instanceof ApiError) return error.message;
  if (isConnectionError(error)) return `MongoDB cannot be reached: ${error.message}`;
  return error.stack ?? error.message;
}

/** Tells the operator what is wrong with the arguments. Exit code 2. */
export class UsageError extends Error {}
