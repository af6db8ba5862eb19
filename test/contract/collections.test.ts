import type { CommandStartedEvent } from 'mongodb';
import supertest from 'supertest';

import type { Surface } from '../../src/app/surface';
import type { TestService, TestUser } from '../support/service';
import {
  surfaceOf,
  operationName,
  giveBack,
  takeDatabase,
  Garden,
  CLIENT_METHODS,
  operationRows,
  validRequest,
  startService,
} from '../support/program';

let service: TestService;
let address: string;
let user: TestUser;
let garden: Garden;
let surface: Surface;
const touched = new Set<string>();
const commits: unknown[] = [];

beforeAll(async () => {
  address = takeDatabase();
  const uri = new URL(address);
  uri.searchParams.set('monitorCommands', 'true');
  // Without jobs, every command to MongoDB comes from the call under test.
  service = await startService({
    mongodbUri: uri.toString(),
    jobs: false,
    env: { ANSWER_CACHE_MB: '0' },
  });
  surface = surfaceOf(service.app);
  user = await service.user();
  garden = new Garden(user);
  const client = service.app.database.connection.getClient();
  client.on('commandStarted', ({ command, commandName }: CommandStartedEvent) => {
    const name: unknown = command[commandName === 'getMore' ? 'collection' : commandName];
    if (typeof name === 'string') touched.add(name);
    if (commandName === 'commitTransaction') commits.push(command['writeConcern']);
  });
});
afterAll(async () => {
  await service.close();
  await giveBack(address);
});

test.each(operationRows())(
  '%s accesses only the collections that the audit lists',
  async (name, operation) => {
    const { path, body } = validRequest(operation, await garden.ids());
    touched.clear();
    const agent = supertest(service.url);
    const call = agent[CLIENT_METHODS[operation.method]](path)
      .set('Authorization', `Bearer ${user.token}`)
      .set('Idempotency-Key', name);
    const response = await call.send(body);
    expect([name, response.status]).toEqual([name, operation.response.status]);
    garden.called(operation);
    const listed = surface.endpoints.find((each) => operationName(each) === name);
    // Every write checks whether a newer release has migrated the data.
    const known = ['migrations', ...(listed?.collections ?? [])];
    expect([...touched].filter((each) => !known.includes(each))).toEqual([]);
    if ('scope' in operation.access) expect(touched.size).toBeGreaterThan(1);
  },
);

test('a write gets its response once a majority of MongoDB has journaled it', async () => {
  commits.length = 0;
  await user.plant();
  // The first use of a token is recorded separately.
  expect(commits).not.toEqual([]);
  for (const concern of commits) expect(concern).toMatchObject({ w: 'majority', j: true });
});
