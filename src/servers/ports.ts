import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { ServersError } from './errors';

export const LOOPBACK = '127.0.0.1';

// Below what systems hand out to outgoing connections, so that a port that is kept for later starts
// is seldom taken meanwhile.
const FIRST = 21_000;
const LAST = 32_000;

/** Whether this program could listen on the port now. */
export async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => {
      resolve(false);
    });
    probe.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      probe.close(() => {
        resolve(true);
      });
    });
  });
}

/** A free port, at random, so that programs that start at once seldom choose the same. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(FIRST, LAST);
    if (await isFree(port)) return port;
  }
  throw new ServersError(`No free port was found on ${LOOPBACK} between ${FIRST} and ${LAST}.`);
}
