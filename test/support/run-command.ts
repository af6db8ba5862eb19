import { runCommand } from '../../src/cli/commands';
import type { Plugin } from '../../src/plugins/plugin';

/** How a command ended, and what it said. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs a command in this process, with nothing of this environment but what is given. A process of
 * its own costs a second of computing; that commands work in one is shown by those that are started
 * in one. One at a time, since what is written meanwhile is taken for the command's.
 */
export async function runCommandHere(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  plugins?: readonly Plugin[],
): Promise<Ended> {
  const said = { stdout: '', stderr: '' };
  const writes = (['stdout', 'stderr'] as const).map((stream) => {
    const write = process[stream].write.bind(process[stream]);
    // Of its signatures, only the first argument matters here.
    process[stream].write = (chunk: unknown) => {
      said[stream] += String(chunk);
      return true;
    };
    return { stream, write };
  });
  const { isTTY } = process.stderr;
  process.stderr.isTTY = false;
  try {
    return { code: await runCommand(args, env, plugins), ...said };
  } finally {
    process.stderr.isTTY = isTTY;
    for (const { stream, write } of writes) process[stream].write = write;
  }
}
