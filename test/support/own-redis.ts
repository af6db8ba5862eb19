import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Redis } from 'ioredis';

import { findBinary } from '../../src/servers/binaries';
import { redis, redisResponds } from '../../src/servers/redis';
import { until } from './processes';

export { until } from './processes';

/** Why a Redis refuses writes, by what its errors say. */
export const REFUSAL_CAUSES = ['READONLY', 'OOM', 'NOPERM'] as const;
type Refusal = (typeof REFUSAL_CAUSES)[number];

type Command = [name: string, ...parameters: string[]];

const REFUSALS: Record<Refusal, { begin: Command; end: Command }> = {
  READONLY: { begin: ['REPLICAOF', '127.0.0.1', '1'], end: ['REPLICAOF', 'NO', 'ONE'] },
  // A key that does not expire is not evicted; it takes all the memory that a managed Redis may use.
  OOM: { begin: ['SETRANGE', 'filler', `${64 * 1024 * 1024}`, 'x'], end: ['DEL', 'filler'] },
  NOPERM: {
    begin: ['ACL', 'SETUSER', 'default', '-@write'],
    end: ['ACL', 'SETUSER', 'default', '+@all'],
  },
};

/** A Redis of a test's own. */
export class OwnRedis {
  /** The path of its socket. */
  readonly url: string;
  #child: ChildProcess | undefined;
  readonly #binary: string;
  readonly #home: string;

  private constructor(binary: string, home: string) {
    this.#binary = binary;
    this.#home = home;
    this.url = path.join(home, 'redis.sock');
  }

  /** A Redis that is not running yet. */
  static async prepare(): Promise<OwnRedis> {
    const search = { root: tmpdir(), progress: () => undefined };
    const binary = await findBinary('redis-server', search);
    return new OwnRedis(binary.path, mkdtempSync(path.join(tmpdir(), 'redis-test-')));
  }

  async start(): Promise<void> {
    this.#child = spawn(this.#binary, redis.arguments, { cwd: this.#home, stdio: 'ignore' });
    await until(() => redisResponds(this.url));
  }

  /** All keys. */
  keys(): Promise<string[]> {
    return this.#ask((client) => client.keys('*'));
  }

  /** How often it ran a script, as rate limits do. */
  async scriptRuns(): Promise<number> {
    const info = await this.#ask((client) => client.info('commandstats'));
    const calls = [...info.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)];
    return calls.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** Makes it refuse writes while it goes on to answer on all its connections, until {@link accept}. */
  async refuse(cause: Refusal): Promise<void> {
    await this.#ask((client) => client.call(...REFUSALS[cause].begin));
  }

  async accept(cause: Refusal): Promise<void> {
    await this.#ask((client) => client.call(...REFUSALS[cause].end));
  }

  async #ask<T>(work: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(this.url);
    try {
      return await work(client);
    } finally {
      client.disconnect();
    }
  }

  /** Makes it hang with its connections open. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Kills it. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#home, { recursive: true, force: true });
  }
}
