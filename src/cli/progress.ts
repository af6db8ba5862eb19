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
