import { SingleBar } from 'cli-progress';

import type { ProgressBar } from '../plugins/command';

/** Draws on standard error, and only where somebody looks at it. */
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

/** Does work of which only it knows how much there is, and draws its progress. */
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
