import { Redis } from 'ioredis';
import type { ServerKind } from './managed-server';

/** redis-server without persistence, because its data may be lost. */
export const redis: ServerKind = {
  program: 'redis-server',
  title: 'Redis',
  folder: 'redis',
  arguments: [
    '--port',
    '0',
    '--unixsocket',
    './redis.sock',
    '--unixsocketperm',
    '600',
    '--dir',
    '.',
    '--pidfile',
    './redis-server.lock',
    '--daemonize',
    'no',
    '--save',
    '',
    '--appendonly',
    'no',
    // Rate limits are small and expire; if memory runs out, evict the keys that expire first.
    '--maxmemory',
    '64mb',
    '--maxmemory-policy',
    'volatile-ttl',
    // These access files, load code and read memory; rate limits need none of them.
    ...['CONFIG', 'MODULE', 'DEBUG'].flatMap((command) => ['--rename-command', command, '']),
  ],
  serves: redisResponds,
  explainEnd: (log, home) => `could not start in ${home}: ${log.trim().split('\n').at(-1) ?? ''}`,
};

/** Returns whether Redis responds at a URL or socket path. */
export async function redisResponds(url: string): Promise<boolean> {
  const client = new Redis(url, {
    lazyConnect: true,
    // The ready check would have a timeout of its own.
    enableReadyCheck: false,
    connectTimeout: 2_000,
    commandTimeout: 2_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // Without a listener, the library prints errors that the caller gets anyway.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.ping();
    return true;
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}
