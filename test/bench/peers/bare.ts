/** The peer without a framework: `node:http` and the driver. Its argument is MongoDB's address. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type EventBody, Garden, type PlantBody, Refusal } from './garden';

const garden = new Garden(process.argv[2] ?? '');

async function bodyOf(request: IncomingMessage): Promise<EventBody & PlantBody> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // No encoding is set.
  return JSON.parse(Buffer.concat(chunks).toString()) as EventBody & PlantBody; // The bench sends nothing else.
}

async function answer(request: IncomingMessage): Promise<[status: number, body: unknown]> {
  const userId = await garden.userOf(request.headers.authorization);
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const [, , resource, id = '', part, month] = pathname.split('/');
  if (request.method === 'POST') {
    const body = await bodyOf(request);
    if (part === 'events') return [201, await garden.createEvent(userId, id, body)];
    return [201, await garden.createPlant(userId, body)];
  }
  if (resource === 'insights') return [200, await garden.insights(userId)];
  if (month !== undefined) {
    const from = new Date(Number(searchParams.get('monthStart')));
    const to = new Date(Number(searchParams.get('monthEnd')));
    return [200, await garden.month(userId, id, from, to)];
  }
  if (part === 'events') {
    return [200, await garden.events(userId, id, Number(searchParams.get('limit') ?? 15))];
  }
  if (id !== '') return [200, await garden.plant(userId, id)];
  return [200, await garden.plants(userId)];
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

const server = createServer((request, response) => {
  answer(request).then(
    ([status, body]) => {
      send(response, status, body);
    },
    (error: unknown) => {
      send(response, error instanceof Refusal ? error.status : 500, { error: String(error) });
    },
  );
});

void garden.connect().then(() => {
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo; // It listens on TCP.
    process.stdout.write(`ready at http://127.0.0.1:${port}\n`);
  });
});
