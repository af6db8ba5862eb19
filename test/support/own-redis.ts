import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Redis } from 'ioredis';

import { findRedis } from '../../src/servers/find-redis';
import { freePort } from '../../src/servers/ports';
import { redis, redisAnswers } from '../../src/servers/redis';
import { until } from '../../src/servers/wait';

/** A Redis that a test may mistreat. */
export class OwnRedis {
  readonly url: string;
  readonly #home = mkdtempSync(path.join(tmpdir(), 'redis-test-'));
  #child: ChildProcess | undefined;

  private constructor(
    private readonly binary: string,
    private readonly port: number,
  ) {
    this.url = `redis://127.0.0.1:${port}`;
  }

  /** A Redis that is yet to be started. */
  static async prepare(): Promise<OwnRedis> {
    const { path: binary } = await findRedis({
      dataRoot: tmpdir(),
      fetch: true,
      progress: () => undefined,
    });
    return new OwnRedis(binary, await freePort());
  }

  async start(): Promise<void> {
    this.#child = spawn(this.binary, redis.arguments(this.port, this.#home), { stdio: 'ignore' });
    await eventually(() => redisAnswers(this.url));
  }

  /** The names of everything that it holds. */
  async keys(): Promise<string[]> {
    const client = new Redis(this.url);
    try {
      return await client.keys('*');
    } finally {
      client.disconnect();
    }
  }

  /** Stops it from answering, with its connections kept. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Kills it as a crash does. */
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

/** Waits for something that must come to pass soon. */
export async function eventually(ask: () => boolean | Promise<boolean>): Promise<void> {
  if (!(await until(ask, { within: 15_000 }))) throw new Error('It did not come to pass in time.');
}
