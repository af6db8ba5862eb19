import { OperatorError } from '../../core/errors';
import { codeOf, reasonOf } from '../../core/values';

export class BackupError extends OperatorError {}

/** Turns an error of the operating system, such as a full disk, into a BackupError. */
export function explain(error: unknown): unknown {
  const isOfSystem = error instanceof Error && 'syscall' in error && codeOf(error) !== undefined;
  if (!isOfSystem) return error;
  return new BackupError(`The backup cannot be written: ${reasonOf(error)}.`, { cause: error });
}
