import { Agent, type IncomingHttpHeaders, request } from 'node:http';

import type { TestService } from '../support/service';
import { demoPlugin, startService } from '../support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService({ jobs: false });
});
afterAll(() => service.close());

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** All bytes of the connection so far, in both directions. */
  wire: number;
}

/** A phone: it requests compressed responses over one connection, with the ETags that it has. */
class Phone {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #etags = new Map<string, string>();
  readonly #token: string;
  readonly #url: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Requests all paths; returns their statuses and the number of bytes transferred. */
  async synchronize(paths: readonly string[]): Promise<{ statuses: Set<number>; bytes: number }> {
    const statuses = new Set<number>();
    let bytes = 0;
    for (const path of paths) {
      const { status, headers, wire } = await this.#get(path);
      statuses.add(status);
      this.#etags.set(path, headers.etag ?? '');
      bytes = wire;
    }
    return { statuses, bytes };
  }

  hangUp(): void {
    this.#agent.destroy();
  }

  #get(path: string): Promise<Answer> {
    const etag = this.#etags.get(path);
    const headers = {
      Authorization: `Bearer ${this.#token}`,
      'Accept-Encoding': 'br, gzip',
      ...(etag === undefined ? {} : { 'If-None-Match': etag }),
    };
    return new Promise((resolve, reject) => {
      const sent = request(this.#url + path, { agent: this.#agent, headers }, (response) => {
        const { socket, statusCode: status = 0, headers: answered } = response;
        response.resume().on('error', reject);
        response.on('end', () => {
          resolve({ status, headers: answered, wire: socket.bytesRead + socket.bytesWritten });
        });
      });
      sent.on('error', reject);
      sent.end();
    });
  }
}

test('checking that none of 50 plants and 3,000 events has changed takes at most 60 KB', async () => {
  const user = await service.user();
  const quiet = { advance: () => undefined, stop: () => undefined };
  const garden = { user: user.id, tier: 'pro', plants: 50, events: 3000, seed: 7 } as const;
  await service.app.exportsOf(demoPlugin).write(garden, quiet);
  const plants = (await user.get('/api/plants')).body as {
    id: string;
  }[];
  const events = plants.map(({ id }) => `/api/plants/${id}/events?limit=100`);
  const paths = ['/api/plants', '/api/insights', ...events];
  const phone = new Phone(service.url, user.token);
  const first = await phone.synchronize(paths);
  expect(first.statuses).toEqual(new Set([200]));
  const both = await phone.synchronize(paths);
  phone.hangUp();
  expect(both.statuses).toEqual(new Set([304]));
  expect(both.bytes - first.bytes).toBeLessThanOrEqual(60_000);
});
