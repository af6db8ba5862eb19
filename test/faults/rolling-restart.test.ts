import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';

import { Client } from '../support/client';
import { listening } from '../support/listening';
import { freePort } from '../support/processes';
import type { TestService, TestUser } from '../support/service';
import {
  closeHttpServer,
  createHttpServer,
  dataDirectory,
  RealServer,
  removeDataDirectory,
  startService,
} from '../support/program';

const CHECK_EVERY_MS = 200;
/** About fifteen requests are sent between two probes; a missing server would fail half of them. */
const CLIENTS = 3;
/** The pause between requests of a client, which is shorter while a server stops. */
const PAUSE_MS = { stopping: 40, starting: 250 };

interface Backend {
  port: number;
  isReady: boolean;
}

/** Sends each request to one of the ready servers, and never retries. */
class Balancer {
  readonly #backends: readonly Backend[];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server: Server;
  readonly #checks: NodeJS.Timeout;
  #turn = 0;

  constructor(ports: readonly number[]) {
    this.#backends = ports.map((port) => ({ port, isReady: true }));
    this.#server = createServer((incoming, outgoing) => {
      const port = this.#next();
      const { method, url, headers } = incoming;
      const sent = request({ port, method, path: url, headers, agent: this.#agent }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 0, { 'content-type': 'application/json' });
        answer.pipe(outgoing);
      });
      sent.on('error', (error) => {
        outgoing.writeHead(502);
        outgoing.end(JSON.stringify(error.message));
      });
      incoming.pipe(sent);
    });
    this.#checks = setInterval(() => {
      for (const backend of this.#backends) void check(backend);
    }, CHECK_EVERY_MS);
  }

  async listen(): Promise<string> {
    return `http://127.0.0.1:${await listening(this.#server)}`;
  }

  async sees(port: number): Promise<void> {
    const backend = this.#backends.find((each) => each.port === port);
    while (!backend?.isReady) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  close(): void {
    clearInterval(this.#checks);
    this.#agent.destroy();
    this.#server.close();
  }

  #next(): number {
    const ready = this.#backends.filter(({ isReady }) => isReady);
    this.#turn += 1;
    return ready[this.#turn % ready.length]?.port ?? 0;
  }
}

async function check(backend: Backend): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${backend.port}/readyz`).catch(() => undefined);
  await answer?.text();
  backend.isReady = answer?.status === 200;
}

let service: TestService;
let user: TestUser;
let dataDir: string;
const servers: RealServer[] = [];
let here: Server | undefined;

beforeAll(async () => {
  service = await startService();
  user = await service.user();
  dataDir = await dataDirectory();
});
afterAll(async () => {
  for (const server of servers) await server.kill();
  await removeDataDirectory(dataDir);
  if (here) await closeHttpServer(here, 1000);
  await service.close();
});

async function startServer(port: number): Promise<RealServer> {
  const server = await RealServer.start(dataDir, {
    PORT: String(port),
    MONGODB_URI: service.mongodbUri,
    REDIS_URL: process.env['TEST_REDIS_URL'],
    SHUTDOWN_DELAY_SECONDS: '2',
  });
  servers.push(server);
  return server;
}

/** The same program in this process, since another process would show nothing new. */
async function startHere(port: number): Promise<void> {
  here = createHttpServer(service.app.requestListener(), service.app.settings);
  here.listen(port, '127.0.0.1');
  await once(here, 'listening');
}

test('no request fails while two servers behind a load balancer are restarted one after the other', async () => {
  const ports = [await freePort(), await freePort()];
  const running = await Promise.all(ports.map(startServer));
  const balancer = new Balancer(ports);
  const url = await balancer.listen();
  const answers: Record<string, number> = {};
  let isOver = false;
  let pauseMs = PAUSE_MS.starting;
  const load = Array.from({ length: CLIENTS }, async (_, client) => {
    const caller = new Client(url, user.token);
    for (let turn = client; !isOver; turn += 1) {
      const isWrite = turn % 3 === 0;
      const body = isWrite ? { body: { name: 'Fern' } } : {};
      const answer = await caller
        .send(isWrite ? 'POST' : 'GET', '/api/plants', body)
        .then(({ status }) => String(status), String);
      answers[answer] = (answers[answer] ?? 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    caller.close();
  });
  for (const [index, port] of ports.entries()) {
    pauseMs = PAUSE_MS.stopping;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await running[index]?.stop()).toBe(0);
    pauseMs = PAUSE_MS.starting;
    await (index === 0 ? startServer(port) : startHere(port));
    await balancer.sees(port);
  }
  isOver = true;
  await Promise.all(load);
  balancer.close();
  expect(Object.keys(answers).sort()).toEqual(['200', '201']);
  expect(answers['200']).toBeGreaterThan(50);
});
