import { OperatorError } from '../core/errors';
import { codeOf, reasonOf } from '../core/values';

/** Tells the operator why a server is not available. */
export class ServersError extends OperatorError {}

/** Another process has the data of a server open. */
export class InUseError extends ServersError {}

/** Turns an error of the operating system, such as a full disk, into a ServersError. */
export function explain(thrown: unknown): unknown {
  if (thrown instanceof ServersError || codeOf(thrown) === undefined) return thrown;
  return new ServersError(`The servers cannot be started: ${reasonOf(thrown)}.`, { cause: thrown });
}
