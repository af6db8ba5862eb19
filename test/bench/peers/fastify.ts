/** The peer on Fastify and the driver, with schemas for requests. */
import fastify from 'fastify';

import { type EventBody, Garden, type PlantBody, Refusal } from './garden';

interface Route {
  Params: { id: string };
  Querystring: { limit: number; monthStart: number; monthEnd: number };
  Body: EventBody & PlantBody;
}

const garden = new Garden(process.argv[2] ?? '');
const app = fastify();

const limit = { type: 'integer', minimum: 1, maximum: 100, default: 15 };
const page = { type: 'object', properties: { limit } };
const moment = { type: 'integer' };
const month = {
  type: 'object',
  properties: { monthStart: moment, monthEnd: moment },
  required: ['monthStart', 'monthEnd'],
};
const event = {
  type: 'object',
  additionalProperties: false,
  properties: {
    type: { type: 'string', maxLength: 20 },
    text: { type: 'string', maxLength: 10_000 },
    occurredAt: { type: 'string', format: 'date-time' },
  },
};
const plant = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', minLength: 1, maxLength: 100 } },
};

const owners = new WeakMap<object, string>();
app.addHook('onRequest', async (request) => {
  owners.set(request, await garden.userOf(request.headers.authorization));
});
const ownerOf = (request: object): string => owners.get(request) ?? '';

app.setErrorHandler((error, _request, reply) => {
  void reply.status(error instanceof Refusal ? error.status : 500).send({ error: String(error) });
});
app.get('/api/plants', (request) => garden.plants(ownerOf(request)));
app.get<Route>('/api/plants/:id', (request) => garden.plant(ownerOf(request), request.params.id));
app.get('/api/insights', (request) => garden.insights(ownerOf(request)));
app.get<Route>('/api/plants/:id/events', { schema: { querystring: page } }, (request) =>
  garden.events(ownerOf(request), request.params.id, request.query.limit),
);
app.get<Route>('/api/plants/:id/events/month', { schema: { querystring: month } }, (request) => {
  const { monthStart, monthEnd } = request.query;
  const { id } = request.params;
  return garden.month(ownerOf(request), id, new Date(monthStart), new Date(monthEnd));
});
app.post<Route>('/api/plants/:id/events', { schema: { body: event } }, async (request, reply) => {
  const { id } = request.params;
  return reply.status(201).send(await garden.createEvent(ownerOf(request), id, request.body));
});
app.post<Route>('/api/plants', { schema: { body: plant } }, async (request, reply) =>
  reply.status(201).send(await garden.createPlant(ownerOf(request), request.body)),
);

void garden
  .connect()
  .then(() => app.listen({ port: 0, host: '127.0.0.1' }))
  .then((url) => process.stdout.write(`ready at ${url}\n`));
