import { Redis } from 'ioredis';
import type { ServerKind } from './managed-server';

/** redis-server without persistence: what it holds may be lost. */
export const redis: ServerKind = {
  program: 'redis-server',
  title: 'Redis',
  folder: 'redis',
  arguments: [
    ...['--port', '0', '--unixsocket', './redis.sock', '--unixsocketperm', '600'],
    ...['--dir', '.', '--pidfile', './redis-server.lock', '--daemonize', 'no'],
    ...['--save', '', '--appendonly', 'no'],
    // What it is for is small and expires; should it not be, it is the oldest that can go.
    ...['--maxmemory', '64mb', '--maxmemory-policy', 'volatile-ttl'],
    // They reach files, foreign code and memory; counting limits needs none of them.
    ...['CONFIG', 'MODULE', 'DEBUG'].flatMap((command) => ['--rename-command', command, '']),
  ],
  serves: redisAnswers,
  explainEnd: (log, home) => `could not start in ${home}: ${log.trim().split('\n').at(-1) ?? ''}`,
};

/** Returns whether a Redis answers at the URL, or on the socket with that path. */
export async function redisAnswers(url: string): Promise<boolean> {
  return (await ask(url, async (client) => client.ping())) !== undefined;
}

/** The version of that Redis; undefined where none answers. */
export async function redisVersion(url: string): Promise<string | undefined> {
  const info = await ask(url, async (client) => client.info('server'));
  return info && /^redis_version:(\S+)/m.exec(info)?.[1];
}

async function ask<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T | undefined> {
  const client = new Redis(url, {
    lazyConnect: true,
    // It waits for an answer as long as the question itself.
    enableReadyCheck: false,
    connectTimeout: 2_000,
    commandTimeout: 2_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // Without a listener the library prints what the caller learns anyway.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } catch {
    return undefined;
  } finally {
    client.disconnect();
  }
}
