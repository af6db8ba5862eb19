import { OperatorError } from '../../core/operator-error';
import { codeOf, reasonOf } from '../../core/values';

/** Says in a sentence why an archive cannot be made, read or restored, for the operator. */
export class BackupError extends OperatorError {}

/** What the operating system refuses, such as a full disk, becomes a BackupError. */
export function explain(error: unknown): unknown {
  const isOfSystem = error instanceof Error && 'syscall' in error && codeOf(error) !== undefined;
  if (!isOfSystem) return error;
  return new BackupError(`The backup cannot be written: ${reasonOf(error)}.`, { cause: error });
}
