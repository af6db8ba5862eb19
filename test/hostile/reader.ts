import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

/** The rate of reads: 20 a second for three accounts, within their budgets. */
const EVERY_MS = 20;

/** People who read one of their plants, and their response times. */
export interface Reader {
  /** Reads for a while; returns the response times in milliseconds. */
  times(forMs: number): Promise<number[]>;
  close(): void;
}

/** @param ca the certificate to trust, under HTTPS */
export async function readerOf(
  url: string,
  tokens: readonly string[],
  ca?: string,
): Promise<Reader> {
  const agent =
    ca === undefined ? new HttpAgent({ keepAlive: true }) : new HttpsAgent({ keepAlive: true, ca });
  const send = (token: string, method: string, path: string, body?: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = {
        method,
        agent,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
      };
      const request = ca === undefined ? requestHttp : requestHttps;
      const sent = request(`${url}${path}`, options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          if ((response.statusCode ?? 500) < 300) resolve(text);
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
        });
      });
      sent.on('error', reject).end(body);
    });
  const paths: string[] = [];
  for (const token of tokens) {
    const plant = JSON.parse(await send(token, 'POST', '/api/plants', '{"name":"Fern"}')) as {
      id: string;
    };
    paths.push(`/api/plants/${plant.id}`);
  }
  return {
    times: async (forMs) => {
      const times: number[] = [];
      const pending: Promise<void>[] = [];
      const end = Date.now() + forMs;
      for (let count = 0; Date.now() < end; count += 1) {
        const index = count % tokens.length;
        const started = performance.now();
        pending.push(
          send(tokens[index] ?? '', 'GET', paths[index] ?? '').then(() => {
            times.push(performance.now() - started);
          }),
        );
        await sleep(EVERY_MS);
      }
      await Promise.all(pending);
      return times;
    },
    close: () => {
      agent.destroy();
    },
  };
}
