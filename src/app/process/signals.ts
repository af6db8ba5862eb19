interface Reactions {
  /** The first SIGTERM or SIGINT. */
  stop: () => void;
  /** The second: Ctrl-C was typed again, or npm forwarded the signal of the terminal. */
  hurry: () => void;
  /** Any further one. */
  end: () => void;
  reload: () => void;
}

/** Handles SIGTERM, SIGINT and SIGHUP; returns a function that removes the handlers. */
export function onSignals(reactions: Reactions): () => void {
  let count = 0;
  const stop = (): void => {
    count += 1;
    if (count === 1) reactions.stop();
    else if (count === 2) reactions.hurry();
    else reactions.end();
  };
  const { reload } = reactions;
  process.on('SIGTERM', stop).on('SIGINT', stop).on('SIGHUP', reload);
  return () => {
    process.off('SIGTERM', stop).off('SIGINT', stop).off('SIGHUP', reload);
  };
}
