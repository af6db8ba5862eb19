import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';

import pino from 'pino';
import supertest, { type Response, type Test } from 'supertest';

import accountsPlugin from '../../plugins/accounts';
import { App } from '../../src/app/app';
import { LOG_FORMAT } from '../../src/app/log';
import { hostModels } from '../../src/data/model/host-models';
import type { Plugin } from '../../src/plugins/plugin';
import { createHttpServer } from '../../src/http/server';
import type { Tier } from '../../src/core/identity';
import { checkResponses } from './checked-responses';
import { Conformance } from './conformance';
import { giveBack, takeDatabase } from './databases';
import { listening } from './listening';
import { NO_LIMITS } from './no-limits';
import { pluginsUnderTest } from './plugins';
import { keptConnections } from './raw';
import { ShardKeys } from './shard-keys';
import { requireNoSecrets, PLANT_NAME } from './secrets';

/** How much of a response an error shows. */
const MAX_SHOWN = 500;

/** A user of a service under test; each request has a token. */
export interface TestUser {
  id: string;
  token: string;
  get(path: string): Test;
  post(path: string, body?: object): Test;
  put(path: string, body?: object): Test;
  patch(path: string, body?: object): Test;
  delete(path: string): Test;
  /** Creates a plant and returns it. */
  plant(fields?: object): Promise<Record<string, unknown> & { id: string }>;
  /** Logs an event and returns it. */
  event(plantId: string, fields?: object): Promise<Record<string, unknown> & { id: string }>;
  /** Creates a photo and returns it. */
  photo(fields?: object): Promise<Record<string, unknown> & { id: string }>;
}

export interface UserOptions {
  id?: string;
  tier?: Tier;
  scopes?: readonly string[];
  timezone?: string;
  expiresInSeconds?: number;
}

/** The whole program in this process, on a free port. */
export interface TestService {
  app: App;
  url: string;
  mongodbUri: string;
  /** Every line logged so far. */
  logged: string[];
  /** Whether the server's own jobs run. */
  runsJobs: boolean;
  /** Creates a user, by default pro and with all scopes. */
  user(options?: UserOptions): Promise<TestUser>;
  /** Requests without a token. */
  anonymous: ReturnType<typeof supertest>;
  /** Runs a job of the server once. */
  runJob(name: string, stopping?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface ServiceOptions {
  env?: NodeJS.ProcessEnv;
  /** A database to share with another service; by default its own. */
  mongodbUri?: string;
  /** null for no Redis. */
  redisUrl?: string | null;
  /** Whether the server's own jobs run. */
  jobs?: boolean;
  /** Plugins besides those of the program. */
  plugins?: readonly Plugin[];
}

interface RunningService {
  app: App;
  url: string;
  mongodbUri: string;
  conformance: Conformance;
  shardKeys: ShardKeys;
  /** Where it logs; each test file starts a new list. */
  log: { lines: string[] };
  runsJobs: boolean;
  stop(): Promise<void>;
}

let shared: Promise<RunningService> | undefined;

/**
 * Returns a service under test, which the caller must close. Without options it is the one that all test
 * files of this worker share, one after the other, so use accounts of your own. `{}` starts another.
 */
export async function startService(options?: ServiceOptions): Promise<TestService> {
  const running = options ? await launch(options) : await (shared ??= launch({}));
  const { app, url, mongodbUri, conformance, shardKeys, log, runsJobs } = running;
  // Another service has logged its start.
  const logged = options ? log.lines : [];
  log.lines = logged;
  const ids: string[] = [];
  return {
    app,
    url,
    mongodbUri,
    logged,
    runsJobs,
    user: async (userOptions = {}) => {
      const made = await makeUser(app, url, userOptions);
      if (userOptions.id === undefined) ids.push(made.id);
      return made;
    },
    anonymous: supertest(url),
    runJob: async (name, stopping = new AbortController().signal) => {
      const job = app.jobs.find((each) => each.name === name);
      if (!job) throw new Error(`There is no job named ${name}.`);
      await job.run(stopping);
    },
    close: async () => {
      const metrics = await app.metrics.text();
      if (options) await running.stop();
      requireNoSecrets([...logged, metrics].join(''), ids);
      // Every response must match the OpenAPI document, whatever the test is about.
      const faults = conformance.faults.splice(0);
      // And every query must name the shard that it asks.
      faults.push(...[...shardKeys.faults].map((query) => `${query} names no shard.`));
      shardKeys.faults.clear();
      if (faults.length > 0) throw new Error(faults.join('\n'));
    },
  };
}

/** Stops the service that test files share, if it is running. */
export async function stopSharedService(): Promise<void> {
  await (await shared)?.stop();
  shared = undefined;
}

async function launch(options: ServiceOptions): Promise<RunningService> {
  const log = { lines: [] as string[] };
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      log.lines.push(chunk.toString());
      done();
    },
  });
  const app = new App({
    plugins: [...pluginsUnderTest(), ...(options.plugins ?? [])],
    env: { ...NO_LIMITS, ...options.env },
    log: pino({ ...LOG_FORMAT, level: 'debug' }, sink),
  });
  for (const operation of app.operations) checkResponses(operation);
  const shardKeys = new ShardKeys([
    ...hostModels,
    ...app.plugins.flatMap(({ plugin }) => plugin.models ?? []),
  ]);
  shardKeys.watch(app.database.connection);
  const mongodbUri = options.mongodbUri ?? takeDatabase();
  const redisUrl =
    options.redisUrl === undefined ? process.env['TEST_REDIS_URL'] : options.redisUrl;
  await app.connect({ mongodbUri, redisUrl: redisUrl ?? undefined });
  const conformance = new Conformance(app.description);
  const listener = conformance.watch(app.requestListener());
  const server = createHttpServer(listener, app.settings);
  const url = `http://127.0.0.1:${await listening(server)}`;
  const runsJobs = options.jobs !== false;
  if (runsJobs) app.startJobs();
  return {
    app,
    url,
    mongodbUri,
    conformance,
    shardKeys,
    log,
    runsJobs,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await app.close();
      if (options.mongodbUri === undefined) await giveBack(mongodbUri);
    },
  };
}

async function makeUser(app: App, url: string, options: UserOptions): Promise<TestUser> {
  const id = options.id ?? `user-${randomUUID()}`;
  const accounts = app.exportsOf(accountsPlugin);
  const { token } = await accounts.tokens.createToken({
    userId: id,
    tier: options.tier ?? 'pro',
    scopes: [...(options.scopes ?? app.scopes.keys())],
    name: 'test',
    expiresInSeconds: options.expiresInSeconds ?? 3600,
  });
  if (options.timezone !== undefined) {
    await accounts.changeAccount(id, { timezone: options.timezone });
  }
  return userOf(url, id, token);
}

/** Makes a failing expectation show the response body, not only the status. */
function withAnswerInErrors(test: Test): Test {
  const end = test.end.bind(test);
  test.end = (done) =>
    end((error: Error | null, response?: Response) => {
      if (error && response) error.cause = JSON.stringify(response.body).slice(0, MAX_SHOWN);
      // Without a connection there is no response, unlike its type.
      done?.(error, response as Response);
    });
  return test;
}

/** A user with an existing token. */
export function userOf(url: string, id: string, token: string): TestUser {
  const agent = supertest(url);
  const authorized = (test: Test): Test =>
    withAnswerInErrors(test).agent(keptConnections).set('Authorization', `Bearer ${token}`);
  const post = (path: string, body?: object): Test => authorized(agent.post(path)).send(body ?? {});
  const created = async (path: string, body: object) => {
    const response = await post(path, body).expect(201);
    return response.body as Record<string, unknown> & { id: string };
  };
  return {
    id,
    token,
    get: (path) => authorized(agent.get(path)),
    post,
    put: (path, body) => authorized(agent.put(path)).send(body ?? {}),
    patch: (path, body) => authorized(agent.patch(path)).send(body ?? {}),
    delete: (path) => authorized(agent.delete(path)),
    plant: (fields) => created('/api/plants', { name: PLANT_NAME, ...fields }),
    event: (plantId, fields) => created(`/api/plants/${plantId}/events`, { ...fields }),
    photo: (fields) =>
      created('/api/photos', {
        imagehostPublicId: 'garden/fern',
        secureUrl: 'https://images.example.com/fern.jpg',
        width: 800,
        height: 600,
        format: 'jpg',
        ...fields,
      }),
  };
}
