/** What signals ask of a server. */
interface Reactions {
  /** The first SIGTERM or SIGINT. */
  stop: () => void;
  /** The second, as when Ctrl-C is typed again: or npm passes on what the terminal sent to all. */
  hurry: () => void;
  /** The third, and those after it. */
  end: () => void;
  reload: () => void;
}

/** Reacts to SIGTERM, SIGINT and SIGHUP; answers how to leave them to Node again. */
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
