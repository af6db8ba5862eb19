import type { IncomingMessage } from 'node:http';

/** As long as MongoDB keeps the moment that a streamed response is as of. */
const MAX_MS = 5 * 60 * 1000;

/**
 * Does what must be done before a response can begin, such as reading a large garden, even if it takes longer than
 * a connection may be inactive.
 */
export async function whileInactive<T>(
  { socket }: Pick<IncomingMessage, 'socket'>,
  work: () => Promise<T>,
): Promise<T> {
  const { timeout = 0 } = socket;
  socket.setTimeout(MAX_MS);
  try {
    return await work();
  } finally {
    socket.setTimeout(timeout);
  }
}
