import { runCommand } from '../../src/cli/commands';
import type { Plugin } from '../../src/plugins/plugin';

/** The exit code and output of a command. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs a command in this process with only this environment, since a new process takes a second. Run one at
 * a time: all output meanwhile counts as the command's.
 */
export async function runCommandHere(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  plugins?: readonly Plugin[],
): Promise<Ended> {
  const said = { stdout: '', stderr: '' };
  const writes = (['stdout', 'stderr'] as const).map((stream) => {
    const write = process[stream].write.bind(process[stream]);
    // It has many signatures; only the first argument matters here.
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
