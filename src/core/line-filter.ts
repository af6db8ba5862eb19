import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';

interface LineFilter {
  /** Where another process writes its lines, as a descriptor or a stream that has one. */
  output: Writable | number;
  /** To be called once that process has it. */
  handOver(): void;
  /** Fulfilled when nobody writes any more, and all is in the file. */
  ended: Promise<unknown>;
}

/**
 * Has the lines of another process written into a file, those left out that match a pattern, by a
 * process that lives as long as it writes, also where this program ends before.
 *
 * @param pattern an extended regular expression of POSIX; undefined where nothing is left out
 * @param owner the user and group to be, where not those of this program
 */
export function filterLines(
  fd: number,
  pattern: string | undefined,
  owner: { uid: number; gid: number } | undefined,
): LineFilter {
  if (pattern === undefined) {
    return { output: fd, handOver: () => undefined, ended: Promise.resolve() };
  }
  const args = ['--line-buffered', '--invert-match', '--extended-regexp', pattern];
  const filter = spawn('grep', args, { detached: true, stdio: ['pipe', fd, 'ignore'], ...owner });
  const { stdin } = filter;
  if (!stdin) throw new Error('A pipe was asked for.');
  filter.unref();
  // One that could not be started ends too, and who writes to it learns so.
  const ended = once(filter, 'exit').catch(() => undefined);
  return { output: stdin, handOver: () => stdin.destroy(), ended };
}
