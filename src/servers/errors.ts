import { OperatorError } from '../core/operator-error';
import { codeOf, reasonOf } from '../core/values';

/** Says why a server cannot be had. */
export class ServersError extends OperatorError {}

/** Says that another process has the data of a server open. */
export class InUseError extends ServersError {}

/** What the operating system refuses (a full disk, missing rights) becomes a ServersError. */
export function explain(thrown: unknown): unknown {
  if (thrown instanceof ServersError || codeOf(thrown) === undefined) return thrown;
  return new ServersError(`The servers cannot be started: ${reasonOf(thrown)}.`, { cause: thrown });
}
