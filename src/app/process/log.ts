import { fstatSync } from 'node:fs';

import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';

import { hostSettings } from '../../core/settings/host-settings';
import { isRecord } from '../../core/values';

const STANDARD_ERROR = 2;
/** How many bytes may wait for a reader of the log; lines beyond them are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** The form of all lines: moments in ISO form, levels by their names. */
export const LOG_FORMAT = {
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level) => ({ level }) },
  serializers: { err: describeError },
} satisfies LoggerOptions;

/** What is logged of an error: not what else hangs on it, such as what was to be written. */
function describeError(error: unknown): object {
  if (!isRecord(error)) return { message: String(error) };
  const { name, message, stack, code } = error;
  return { type: name, code, message: withoutValues(message), stack: withoutValues(stack) };
}

/** MongoDB's words for a duplicate key end with the values of the key. */
function withoutValues(text: unknown): string {
  return String(text).replace(/ dup key: .*/g, '');
}

/** The program's log, on standard error: standard output is for what somebody asked for. */
export function openLog(env: NodeJS.ProcessEnv): {
  log: Logger;
  /** How many lines were dropped because nobody read them in time. */
  dropped: () => number;
} {
  const level = env[hostSettings.logLevel.name];
  // A level that is not one is reported with all other settings when they are checked.
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

/** A destination that never waits for its reader. */
function openDestination(onDrop: () => void): DestinationStream {
  const kind = fstatSync(STANDARD_ERROR);
  // Node's own stream waits for terminals and disks, and for nothing else.
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
  // A reader that is gone must not end the program; one listener is enough for all its logs.
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
