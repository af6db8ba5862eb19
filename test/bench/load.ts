import { readFileSync } from 'node:fs';

import { Pool } from 'undici';

import { sampleOf } from '../support/process-samples';

/** A request that is sent repeatedly. */
export interface Sample {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: object;
}

/** The results of some seconds of load. */
export interface Load {
  /** Requests per second. */
  rate: number;
  /** Times until the complete response, in ms. */
  times: number[];
  /** CPU time of the server per request, in µs. */
  cpu: number;
}

export const CONNECTIONS = Number(process.env['BENCH_CONNECTIONS'] ?? 16);
const MS_PER_TICK = 10;

/** A server under load, and its process. */
export class Target {
  readonly name: string;
  readonly #pool: Pool;
  readonly #pid: number;

  constructor(name: string, url: string, pid: number) {
    this.name = name;
    this.#pid = pid;
    this.#pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  }

  /** @throws Error if the response is neither a success nor a 304 */
  async send({ method, path, headers = {}, body }: Sample): Promise<Answer> {
    const answer = await this.#pool.request({
      method,
      path,
      headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
      body: body ? JSON.stringify(body) : null,
    });
    const text = await answer.body.text();
    const { statusCode: status, headers: answered } = answer;
    if (status >= 300 && status !== 304) {
      throw new Error(`${this.name} answers ${method} ${path} with ${status}: ${text}`);
    }
    return { status, text, etag: String(answered['etag'] ?? '') };
  }

  /** Sends samples in turns over some connections for some seconds. */
  async load(
    samples: readonly Sample[],
    seconds: number,
    connections = CONNECTIONS,
  ): Promise<Load> {
    const started = performance.now();
    const end = started + seconds * 1000;
    const cpuBefore = cpuOf(this.#pid);
    const times: number[] = [];
    const connection = async (first: number): Promise<void> => {
      for (let turn = first; performance.now() < end; turn += connections) {
        const sample = samples[turn % samples.length];
        if (!sample) throw new Error('There is nothing to send.');
        const sent = performance.now();
        await this.send(sample);
        times.push(performance.now() - sent);
      }
    };
    await Promise.all(Array.from({ length: connections }, (_, index) => connection(index)));
    const took = performance.now() - started;
    const cpu = ((cpuOf(this.#pid) - cpuBefore) * 1000) / times.length;
    return { rate: (times.length / took) * 1000, times, cpu };
  }

  /** Resident memory of the process in MB. */
  get memory(): number {
    return sampleOf(this.#pid).megabytes;
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

export interface Answer {
  status: number;
  text: string;
  etag: string;
}

/** CPU time of a process in ms. */
function cpuOf(pid: number): number {
  // After the name, which may contain spaces: user and system time are the 12th and 13th fields.
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=[^)]*$)/);
  const parts = fields.split(' ');
  return (Number(parts[11]) + Number(parts[12])) * MS_PER_TICK;
}
