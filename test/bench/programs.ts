import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { Target } from './load';

const ROOT = path.resolve(__dirname, '../..');
const READY = /ready at (\S+)/;

/** A server in a process of its own. */
export class ServingProgram {
  readonly target: Target;
  readonly #child: ChildProcess;

  private constructor(target: Target, child: ChildProcess) {
    this.target = target;
    this.#child = child;
  }

  /** Starts this server as it ships, and discards its log. */
  static server(name: string, env: NodeJS.ProcessEnv): Promise<ServingProgram> {
    const main = path.join(ROOT, 'dist/src/main.js');
    return ServingProgram.#start(name, [main], { ...process.env, PORT: '0', ...env });
  }

  /** Starts one of `test/bench/peers`. */
  static peer(name: string, mongodbUri: string): Promise<ServingProgram> {
    const register = path.join(ROOT, 'test/servers/register.cjs');
    const peer = path.join(__dirname, 'peers', `${name}.ts`);
    return ServingProgram.#start(name, ['--require', register, peer, mongodbUri], {
      ...process.env,
      NODE_ENV: 'production',
    });
  }

  static async #start(
    name: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
  ): Promise<ServingProgram> {
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    for await (const chunk of child.stdout) {
      output += String(chunk);
      const url = READY.exec(output)?.[1];
      if (url !== undefined && child.pid !== undefined) {
        return new ServingProgram(new Target(name, url, child.pid), child);
      }
    }
    throw new Error(`${name} does not start: ${output}`);
  }

  async stop(): Promise<void> {
    await this.target.close();
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}
