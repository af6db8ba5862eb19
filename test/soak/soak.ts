import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import accountsPlugin from '../../plugins/accounts';
import { reconcile } from '../../src/app/reconcile';
import { type Scene, Writer } from '../faults/writers';
import { Client, records } from '../support/client';
import { ownProcess } from '../support/processes';
import { asOperator, dataDirectory, RealServer, removeDataDirectory } from '../support/real-server';

/** How long the load goes on, and between which moments a fault is injected and a sample taken. */
const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 600);
const FAULT_EVERY_MS = Math.min(20_000, SECONDS * 250);
const SAMPLE_EVERY_MS = Math.min(2_000, SECONDS * 50);
/** What the last quarter of the run may have more than the second one. */
const MAY_GROW = { megabytes: 40, descriptors: 20, handles: 20 };

const USERS = ['ann', 'bob', 'eve'];
const READS = ['/api/plants', '/api/insights', '/api/locations', '/api/announcements', '/readyz'];

interface Sample {
  megabytes: number;
  descriptors: number;
  handles: number;
}

/** What the server process holds at a moment, by the operating system's and its own account. */
async function sampleOf(server: RealServer): Promise<Sample> {
  const { pid } = server.process;
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  return {
    megabytes: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
    descriptors: readdirSync(`/proc/${String(pid)}/fd`).length,
    handles: Number(/^nodejs_active_handles_total (\d+)/m.exec(metrics)?.[1]),
  };
}

async function read(token: string, scene: Scene): Promise<void> {
  const client = new Client(scene.url, token);
  for (let count = 0; !scene.stopped; count += 1) {
    const path = READS[count % READS.length] ?? '/';
    try {
      const { status } = await client.send('GET', path);
      if (status !== 200 && status !== 503) scene.faults.push(`GET ${path}: ${status}`);
      // Every tenth caller hangs up while it is answered.
      if (count % 10 === 0) await client.send('GET', path, { within: 1 }).catch(() => undefined);
    } catch (error) {
      scene.faults.push(`GET ${path}: ${String(error)}`);
    }
    await sleep(20);
  }
  client.close();
}

/** Kills, pauses and resumes the own servers in turn. */
async function injectFaults(dataDir: string, scene: Scene): Promise<void> {
  const faults = ['mongod killed', 'redis killed', 'mongod paused'] as const;
  for (let count = 0; !scene.stopped; count += 1) {
    await sleep(FAULT_EVERY_MS);
    const fault = faults[count % faults.length] ?? 'redis killed';
    const pid = ownProcess(dataDir, fault === 'redis killed' ? 'redis' : 'mongod');
    if (pid === undefined) continue;
    if (fault === 'mongod paused') {
      process.kill(pid, 'SIGSTOP');
      await sleep(2000);
      process.kill(pid, 'SIGCONT');
    } else process.kill(pid, 'SIGKILL');
    console.log(`fault: ${fault}; ${scene.acknowledged} writes acknowledged so far`);
  }
}

/** Every acknowledged event is there once, and nothing else is. */
async function checkBooks(writer: Writer, token: string, url: string): Promise<string[]> {
  const client = new Client(url, token);
  const { plantId, events } = writer.kept;
  const stored = new Set<string>();
  let cursor: unknown;
  do {
    const page = await client.send(
      'GET',
      `/api/plants/${plantId}/events?limit=100${typeof cursor === 'string' ? `&cursor=${cursor}` : ''}`,
    );
    const { items, nextCursor } = page.body as { items: unknown; nextCursor: unknown };
    for (const { id } of records(items)) stored.add(String(id));
    cursor = nextCursor;
  } while (typeof cursor === 'string');
  client.close();
  const lost = [...events.keys()].filter((id) => !stored.has(id));
  const extra = [...stored].filter((id) => !events.has(id));
  return [
    ...lost.map((id) => `the acknowledged event ${id} is lost`),
    ...extra.map((id) => `the event ${id} was never acknowledged`),
  ];
}

function middleOf(samples: readonly Sample[], key: keyof Sample): number {
  const values = samples.map((sample) => sample[key]).sort((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? 0;
}

function growthOf(samples: readonly Sample[]): string[] {
  const quarter = Math.floor(samples.length / 4);
  const early = samples.slice(quarter, 2 * quarter);
  const late = samples.slice(-quarter);
  return (Object.keys(MAY_GROW) as (keyof Sample)[]).flatMap((key) => {
    const [before, after] = [middleOf(early, key), middleOf(late, key)];
    console.log(`${key}: ${before.toFixed(0)} early, ${after.toFixed(0)} late`);
    return after - before > MAY_GROW[key] ? [`${key} grew from ${before} to ${after}`] : [];
  });
}

async function soak(dataDir: string): Promise<string[]> {
  const server = await RealServer.start(dataDir);
  const tokens = await asOperator(dataDir, (app) =>
    Promise.all(
      USERS.map(async (userId) => {
        const scopes = [...app.scopes.keys()];
        const wanted = { userId, tier: 'pro' as const, scopes, name: 't', expiresInSeconds: 7200 };
        return (await app.exportsOf(accountsPlugin).createToken(wanted)).token;
      }),
    ),
  );
  const scene: Scene = {
    ...{ url: server.url, serverMayBeDown: false, stopped: false },
    ...{ acknowledged: 0, faults: [] },
  };
  const writers = tokens.map((token, index) => new Writer(USERS[index] ?? '', token, scene));
  const work = [
    ...writers.map((writer) => writer.run()),
    ...tokens.map((token) => read(token, scene)),
    injectFaults(dataDir, scene),
  ];
  const samples: Sample[] = [];
  const end = Date.now() + SECONDS * 1000;
  while (Date.now() < end) {
    await sleep(SAMPLE_EVERY_MS);
    samples.push(await sampleOf(server));
  }
  scene.stopped = true;
  await Promise.all(work);
  const books = await Promise.all(
    writers.map((writer, index) => checkBooks(writer, tokens[index] ?? '', server.url)),
  );
  const { differences } = await asOperator(dataDir, (app) => reconcile(app, { repair: false }));
  console.log(`${scene.acknowledged} writes acknowledged, ${samples.length} samples`);
  await server.stop();
  return [
    ...scene.faults,
    ...books.flat(),
    ...differences.map(({ user, difference }) => `${user}: ${difference}`),
    ...growthOf(samples),
  ];
}

async function main(): Promise<void> {
  const dataDir = await dataDirectory();
  try {
    const faults = await soak(dataDir);
    for (const fault of faults) console.error(fault);
    console.log(faults.length === 0 ? 'No growth; the books balance.' : `${faults.length} faults.`);
    process.exitCode = faults.length === 0 ? 0 : 1;
  } finally {
    await removeDataDirectory(dataDir);
  }
}

void main();
