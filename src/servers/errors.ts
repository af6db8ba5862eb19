import { codeOf, reasonOf } from '../core/values';

/** A server that cannot be had; its message is one or more plain sentences for the operator. */
export class ServersError extends Error {
  override readonly name = 'ServersError';
}

/** What the operating system refuses (a full disk, missing rights) becomes a ServersError. */
export function explain(thrown: unknown): unknown {
  if (thrown instanceof ServersError || codeOf(thrown) === undefined) return thrown;
  return new ServersError(`The servers cannot be started: ${reasonOf(thrown)}.`, { cause: thrown });
}
