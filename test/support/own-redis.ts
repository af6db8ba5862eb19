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
  async keys(): Promise<string[]> {
    const client = new Redis(this.url);
    try {
      return await client.keys('*');
    } finally {
      client.disconnect();
    }
  }

  /** How often it ran a script, as rate limits do. */
  async scriptRuns(): Promise<number> {
    const client = new Redis(this.url);
    try {
      const info = await client.info('commandstats');
      const calls = [...info.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)];
      return calls.reduce((sum, [, count]) => sum + Number(count), 0);
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
