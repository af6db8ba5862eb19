import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import pino from 'pino';

import { listening } from '../support/listening';
import {
  App,
  closeHttpServer,
  createHttpServer,
  loadPlugins,
  giveBack,
  takeDatabase,
} from '../support/program';

let app: App;
let mongodbUri: string;
let server: Server;
const closing: (() => void)[] = [];

beforeEach(async () => {
  app = new App({ plugins: loadPlugins(), env: {}, log: pino({ level: 'silent' }) });
  mongodbUri = takeDatabase();
  await app.connect({ mongodbUri });
});
afterEach(async () => {
  for (const close of closing.splice(0)) close();
  await closeHttpServer(server, 10_000);
  await app.close();
  await giveBack(mongodbUri);
});

/** Starts a server; returns its port. */
async function serve(): Promise<number> {
  server = createHttpServer(app.requestListener(), app.settings);
  return listening(server);
}

/** An open connection, and everything that arrives on it. */
class RawConnection {
  received = '';
  /** The error that ended it. */
  fault: string | undefined;
  readonly closed: Promise<unknown>;
  readonly #socket: Socket;

  constructor(port: number) {
    const socket = connect(port, '127.0.0.1');
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => (this.received += chunk.toString()));
    socket.on('error', (error: NodeJS.ErrnoException) => (this.fault = error.code));
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    closing.push(() => socket.destroy());
  }

  static async open(port: number): Promise<RawConnection> {
    const connection = new RawConnection(port);
    await once(connection.#socket, 'connect');
    return connection;
  }

  ask(): void {
    this.#socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  }
}

async function refusesConnections(port: number): Promise<boolean> {
  const connection = new RawConnection(port);
  await connection.closed;
  return connection.fault === 'ECONNREFUSED';
}

test('a closing server still responds to the first request on an open connection', async () => {
  const port = await serve();
  const connection = await RawConnection.open(port);
  app.beginClosing();
  const closed = closeHttpServer(server, 60_000);
  await sleep(200);
  expect(await refusesConnections(port)).toBe(true);
  connection.ask();
  await connection.closed;
  expect(connection.received).toMatch(/^HTTP\/1\.1 200 [^]*^Connection: close\r$/im);
  await closed;
});

test('connections that are opened while a server closes get a response or are refused, but not reset', async () => {
  const port = await serve();
  const ask = async (): Promise<string> => {
    const connection = new RawConnection(port);
    connection.ask();
    await connection.closed;
    return connection.fault ?? connection.received.slice(0, 12);
  };
  // As many as get responses within the second for last requests, even on a busy machine.
  const asked = Array.from({ length: 30 }, ask);
  await sleep(5);
  app.beginClosing();
  await closeHttpServer(server, 60_000);
  const outcomes = new Set(await Promise.all(asked));
  outcomes.delete('ECONNREFUSED');
  expect([...outcomes]).toEqual(['HTTP/1.1 200']);
});

test('a keep-alive connection gets one more response and is then closed', async () => {
  const port = await serve();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  closing.push(() => {
    agent.destroy();
  });
  const ask = async () => {
    const response = await new Promise<IncomingMessage>((resolve) => {
      get({ port, agent, path: '/healthz' }, resolve);
    });
    const { statusCode, headers, socket } = response;
    const from = socket.localPort;
    response.resume();
    await once(response, 'end');
    return { statusCode, connection: headers.connection, from };
  };
  const first = await ask();
  expect(first.connection).toBe('keep-alive');
  app.beginClosing();
  const closed = closeHttpServer(server, 60_000);
  await sleep(100);
  expect(await ask()).toEqual({ statusCode: 200, connection: 'close', from: first.from });
  await closed;
});

test('an idle connection does not prevent a server from closing', async () => {
  const port = await serve();
  const connection = await RawConnection.open(port);
  await closeHttpServer(server, 60_000);
  await connection.closed;
  expect(connection.received).toBe('');
});
