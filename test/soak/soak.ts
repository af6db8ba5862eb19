import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { mongo } from 'mongoose';

import { reconcile } from '../../src/app/reconcile';
import { withTimeout } from '../../src/core/async';
import { acquireServers } from '../../src/servers';
import { eventsOf, type Scene, Writer } from '../faults/writers';
import { Client, record, records } from '../support/client';
import { ownProcess } from '../support/processes';
import { type ProcessSample, sampleOf } from '../support/process-samples';
import { median } from '../support/statistics';
import {
  asOperator,
  databaseOf,
  dataDirectory,
  RealServer,
  removeDataDirectory,
  tokensOf,
} from '../support/real-server';
import { atLeast, atMost, type Finding, none, report } from '../support/report';
import { TcpProxy } from '../support/tcp-proxy';
import { leastAnswered, Reader } from './reader';

/** The duration of the load, and the pauses between faults and between samples. */
const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 600);
const FAULT_EVERY_MS = Math.min(20_000, SECONDS * 100);
const SAMPLE_EVERY_MS = Math.min(2_000, SECONDS * 20);

const USERS = ['ann', 'bob', 'eve'];

/** The minimum share of expected responses and writes, although there is a fault most of the time. Two
 * slow, otherwise idle CPUs acknowledge about sixty writes a second.
 */
const MIN_WRITES_A_SECOND = 2;
const MIN_ANSWERED_PERCENT = 50;
/** How long the last requests may take after the last fault. */
const END_MS = 60_000;

interface Sample extends ProcessSample {
  handles: number;
  /** Connections to MongoDB, as it reports them. */
  connections: number;
}

const CACHE_MEGABYTES = 4;
/** The allowed growth from the second quarter of the run to the last. Medians of memory vary by up to
 * 17 MB either way with uncollected garbage; the response cache is full before.
 */
const MAY_GROW: Sample = { megabytes: 24, descriptors: 20, handles: 20, connections: 20 };

/** The program behind proxies that simulate network faults. */
interface Scenery {
  /** The data directory of the servers. */
  dataDir: string;
  server: RealServer;
  /** The proxies before MongoDB and Redis. */
  proxies: readonly [mongodb: TcpProxy, redis: TcpProxy];
}

async function sceneryOf(dataDir: string, redisUrl: string): Promise<Scenery> {
  const { proxy: mongodb, uri } = await TcpProxy.before(databaseOf(dataDir));
  const redis = await TcpProxy.start(redisUrl);
  const server = await RealServer.start(path.join(dataDir, 'server'), {
    MONGODB_URI: uri,
    ANSWER_CACHE_MB: String(CACHE_MEGABYTES),
    REDIS_URL: `redis://127.0.0.1:${redis.port}`,
  });
  return { dataDir, server, proxies: [mongodb, redis] };
}

/** Suspends a process for a second. */
async function pause(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await sleep(1000);
  process.kill(pid, 'SIGCONT');
}

/** Injects faults into the servers and the network, in turn. */
async function injectFaults({ dataDir, proxies }: Scenery, scene: Scene): Promise<void> {
  const [mongodb, redis] = proxies;
  const onServer = (name: 'mongod' | 'redis', fault: (pid: number) => unknown) => async () => {
    const pid = ownProcess(dataDir, name);
    if (pid !== undefined) await fault(pid);
  };
  const onNetwork = (proxy: TcpProxy, forMs: number) => async () => {
    proxy.fail('cut');
    await sleep(forMs);
    proxy.restore();
  };
  const forget = (proxy: TcpProxy) => () => {
    proxy.fail('black hole', { onlyOpen: true });
  };
  const faults: [name: string, inject: () => unknown][] = [
    ['MongoDB cut off', onNetwork(mongodb, 1000)],
    ['MongoDB paused', onServer('mongod', pause)],
    ['Redis killed', onServer('redis', (pid) => process.kill(pid, 'SIGKILL'))],
    ['connections to MongoDB lost unseen', forget(mongodb)],
    ['Redis cut off', onNetwork(redis, 1000)],
    ['MongoDB killed', onServer('mongod', (pid) => process.kill(pid, 'SIGKILL'))],
    ['connections to Redis lost unseen', forget(redis)],
  ];
  for (let count = 0; !scene.stopped; count += 1) {
    await sleep(FAULT_EVERY_MS);
    const [name, inject] = faults[count % faults.length] ?? ['', () => undefined];
    console.log(`${name}; ${scene.acknowledged} writes acknowledged so far`);
    await inject();
  }
}

/** Takes samples until the time is over. */
async function sampleLoad({ dataDir, server }: Scenery): Promise<Sample[]> {
  const client = new mongo.MongoClient(databaseOf(dataDir));
  const samples: Sample[] = [];
  const end = Date.now() + SECONDS * 1000;
  while (Date.now() < end) {
    await sleep(SAMPLE_EVERY_MS);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    // MongoDB may be down.
    const status = await client
      .db('admin')
      .command({ serverStatus: 1 })
      .catch(() => undefined);
    samples.push({
      ...sampleOf(server.process.pid),
      handles: sumOf(metrics, 'nodejs_active_handles'),
      connections: Number(record(status?.['connections'] ?? {})['current'] ?? NaN),
    });
  }
  await client.close();
  return samples;
}

/** The sum of a metric over its labels. */
function sumOf(metrics: string, name: string): number {
  const samples = metrics.matchAll(new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'gm'));
  return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
}

/** Expects every acknowledged write once, and nothing else. */
async function checkBooks(writer: Writer, token: string, url: string): Promise<string[]> {
  const client = new Client(url, token);
  const { plantId, name, events } = writer.kept;
  const stored = await eventsOf(client, plantId);
  const plants = records((await client.send('GET', '/api/plants')).body);
  client.close();
  const lost = [...events.keys()].filter((id) => !stored.has(id));
  const extra = [...stored.keys()].filter((id) => !events.has(id));
  const names = plants.map((plant) => String(plant['name'])).join();
  return [
    ...lost.map((id) => `The acknowledged event ${id} is lost.`),
    ...extra.map((id) => `The event ${id} was never acknowledged.`),
    ...(names === name ? [] : [`The plants are ${names} instead of ${name}.`]),
  ];
}

function growthOf(samples: readonly Sample[]): Finding[] {
  const quarter = Math.floor(samples.length / 4);
  return (Object.keys(MAY_GROW) as (keyof Sample)[]).map((key) => {
    const middle = (part: readonly Sample[]) =>
      median(part.map((sample) => sample[key]).filter(Number.isFinite));
    const [early, late] = [
      middle(samples.slice(quarter, 2 * quarter)),
      middle(samples.slice(-quarter)),
    ];
    return atMost(`growth of ${key} from ${early.toFixed(0)}`, late - early, MAY_GROW[key]);
  });
}

async function soak(scenery: Scenery): Promise<Finding[]> {
  const { dataDir, server } = scenery;
  const tokens = await tokensOf(dataDir, USERS);
  const scene: Scene = {
    url: server.url,
    serverMayBeDown: false,
    stopped: false,
    acknowledged: 0,
    faults: [],
  };
  const writers = tokens.map((token, index) => new Writer(USERS[index] ?? '', token, scene));
  const readers = writers.map((writer, index) => new Reader(tokens[index] ?? '', writer, scene));
  const work = Promise.all([
    ...writers.map((writer) => writer.run()),
    ...readers.map((reader) => reader.run()),
    injectFaults(scenery, scene),
  ]);
  const samples = await Promise.race([sampleLoad(scenery), work.then(() => [])]);
  scene.stopped = true;
  const least = leastAnswered(readers);
  const answered = [
    atLeast('acknowledged writes a second', scene.acknowledged / SECONDS, MIN_WRITES_A_SECOND),
    atLeast(`right answers to ${least.name}`, 100 * least.share, MIN_ANSWERED_PERCENT, '%'),
  ];
  if (
    (await withTimeout(
      END_MS,
      work.then(() => true),
    )) === undefined
  ) {
    report(answered);
    throw new Error('The last writes are never acknowledged.');
  }
  const books = await Promise.all(
    writers.map((writer, index) => checkBooks(writer, tokens[index] ?? '', server.url)),
  );
  const { differences } = await asOperator(dataDir, (app) => reconcile(app, { repair: false }));
  const warnings = server.stderr.match(/^.*MaxListenersExceeded.*$/gm) ?? [];
  console.log(`${scene.acknowledged} writes acknowledged, ${samples.length} samples`);
  return [
    ...answered,
    none('wrong or missing answers', scene.faults),
    none('acknowledged writes that are not there once', books.flat()),
    none(
      'derived data that differs',
      differences.map(({ difference }) => difference),
    ),
    none('listeners that pile up', warnings),
    ...growthOf(samples),
  ];
}

async function main(): Promise<void> {
  const dataDir = await dataDirectory();
  const servers = await acquireServers({ dataDir }, { role: 'server' });
  if (servers.redisUrl === undefined) throw new Error(servers.notes.join(' '));
  const scenery = await sceneryOf(dataDir, servers.redisUrl);
  try {
    report(await soak(scenery));
  } finally {
    await scenery.server.stop();
    for (const proxy of scenery.proxies) await proxy.close();
    await servers.release();
    await removeDataDirectory(dataDir);
  }
}

void main();
