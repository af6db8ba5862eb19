import { SingleBar } from 'cli-progress';

import type { ProgressBar } from '../plugins/command';

/** Shows a progress bar on standard error if that is a terminal. */
export function progressBar(label: string, total: number): ProgressBar {
  if (!process.stderr.isTTY) return { advance: () => undefined, stop: () => undefined };
  const bar = new SingleBar({
    format: `${label} {bar} {percentage} %, {eta_formatted} left`,
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
  });
  bar.start(total, 0);
  return {
    advance: (by) => {
      bar.increment(by);
    },
    stop: () => {
      bar.stop();
    },
  };
}

/** Runs work that reports its progress and its total, and shows a progress bar. */
export async function withProgress<T>(
  label: string,
  work: (advance: (by: number, total: number) => void) => Promise<T>,
): Promise<T> {
  let bar: ProgressBar | undefined;
  const advance = (by: number, total: number): void => {
    bar ??= progressBar(label, total);
    bar.advance(by);
  };
  return work(advance).finally(() => bar?.stop());
}
