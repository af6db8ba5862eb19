import { fstatSync } from 'node:fs';

import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';

import { hostSettings } from '../core/settings/host-settings';
import { isRecord } from '../core/values';

const STANDARD_ERROR = 2;
/** How many bytes may wait for the reader of the log; further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** The format of all lines: ISO timestamps, levels by name. */
export const LOG_FORMAT = {
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level) => ({ level }) },
  serializers: { err: describeError },
} satisfies LoggerOptions;

/** Serializes an error without its other properties, which may hold user data. */
function describeError(error: unknown): object {
  if (!isRecord(error)) return { message: String(error) };
  const { name, message, stack, code } = error;
  return { type: name, code, message: withoutValues(message), stack: withoutValues(stack) };
}

/** Removes the key values at the end of MongoDB's duplicate key errors. */
function withoutValues(text: unknown): string {
  return String(text).replace(/ dup key: .*/g, '');
}

/** Opens the log on standard error. Standard output is for results. */
export function openLog(env: NodeJS.ProcessEnv): {
  log: Logger;
  /** How many lines were dropped because the reader was too slow. */
  dropped: () => number;
} {
  const level = env[hostSettings.logLevel.name];
  // An invalid level is reported when the settings are checked.
  const isLevel =
    level !== undefined && hostSettings.logLevel.schema.validate(level).error === undefined;
  let dropped = 0;
  const log = pino(
    { ...LOG_FORMAT, level: isLevel ? level : hostSettings.logLevel.fallback },
    openDestination(() => {
      dropped += 1;
    }),
  );
  return { log, dropped: () => dropped };
}

/** Returns a destination that never blocks on its reader. */
function openDestination(onDrop: () => void): DestinationStream {
  const kind = fstatSync(STANDARD_ERROR);
  // process.stderr is asynchronous for pipes and sockets only.
  if (kind.isFIFO() || kind.isSocket()) return pipe(process.stderr, onDrop);
  const destination = pino.destination({
    dest: STANDARD_ERROR,
    sync: false,
    maxLength: MAX_WAITING_BYTES,
  });
  destination.on('drop', onDrop);
  destination.on('error', onDrop);
  return destination;
}

function pipe(stream: NodeJS.WriteStream, onDrop: () => void): DestinationStream {
  // A closed reader must not end the process; one listener serves all logs.
  if (stream.listenerCount('error') === 0) stream.on('error', () => undefined);
  const written = (error?: Error | null): void => {
    if (error) onDrop();
  };
  return {
    write: (line) => {
      if (stream.writable && stream.writableLength < MAX_WAITING_BYTES) stream.write(line, written);
      else onDrop();
    },
  };
}
