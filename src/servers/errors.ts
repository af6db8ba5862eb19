import { isRecord } from './json-file';

/** A server that cannot be had; its message is one or more plain sentences for the operator. */
export class ServersError extends Error {
  override readonly name = 'ServersError';
}

/** The text of whatever was thrown, in one line. */
export function reasonOf(thrown: unknown): string {
  // By its shape: errors of Node's own are of another class where code runs in a context of its own.
  const text = isRecord(thrown) ? String(thrown['message']) : String(thrown);
  return text.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
}

/** The code of a system error (`ENOENT`), or undefined. */
export function codeOf(thrown: unknown): string | undefined {
  const code = isRecord(thrown) ? thrown['code'] : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** What the operating system refuses (a full disk, missing rights) becomes a ServersError. */
export function explain(thrown: unknown): unknown {
  if (thrown instanceof ServersError || codeOf(thrown) === undefined) return thrown;
  return new ServersError(`The servers cannot be started: ${reasonOf(thrown)}.`, { cause: thrown });
}
