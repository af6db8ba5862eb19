import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { PortTakenError } from './errors';
import { untilListening } from './listening';
import { LOOPBACK } from './ports';
import type { ServerKind } from './server-kind';

/** redis-server without persistence: what it holds may be lost. */
export const redis: ServerKind = {
  name: 'redis',
  title: 'Redis',
  folder: 'redis',
  grace: 5_000,

  arguments: (port, home) => [
    ...['--port', String(port), '--bind', LOOPBACK, '--dir', home],
    ...['--save', '', '--appendonly', 'no', '--daemonize', 'no'],
    // What it is for is small and expires; should it not be, it is the oldest that can go.
    ...['--maxmemory', '64mb', '--maxmemory-policy', 'volatile-ttl'],
  ],

  async becomeReady(port, pid, signal) {
    await untilListening(port, signal);
    for (;;) {
      const info = await ask(`redis://${LOOPBACK}:${port}`, async (client) =>
        client.info('server'),
      );
      const answering = /^process_id:(\d+)/m.exec(info ?? '')?.[1];
      if (answering === String(pid)) return;
      if (answering !== undefined) throw new PortTakenError(port);
      await sleep(20, undefined, { signal });
    }
  },

  lastError: (log) =>
    log
      .split('\n')
      .filter((line) => / # |error|fail/i.test(line))
      .at(-1)
      ?.replace(/^.* # /, ''),

  portWasTaken: (log) => log.includes('Address already in use'),

  refusedData: () => false,
};

/** Whether a Redis answers at the URL. */
export async function redisAnswers(url: string): Promise<boolean> {
  return (await ask(url, async (client) => client.ping())) !== undefined;
}

async function ask<T>(
  url: string,
  question: (client: Redis) => Promise<T>,
): Promise<T | undefined> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 2_000,
    commandTimeout: 2_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // Without a listener the library prints what the caller is told anyway.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await question(client);
  } catch {
    return undefined;
  } finally {
    client.disconnect();
  }
}
