/** Compares this server as it ships with programs that do the same on a framework or on none, on the
 * same data and after comparing their responses. They run in turns, since the speed of a machine
 * varies. Writes performance.md, .json and .svg to reports/, or to the folder REPORTS.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { type Program, startProgram } from '../../src/app/program';
import { loadPlugins } from '../../src/plugins/loader';
import { median, quantile } from '../support/statistics';
import { LIMITS, listOf, makeGardener } from './gardens';
import type { Load, Sample, Target } from './load';
import { ServingProgram } from './programs';
import { type Figures, type Row, writeReport } from './report';
import { type Gardener, type Subject, subjectsOf } from './subjects';

/** The length of a turn: short, since the speed of a machine may double within seconds. */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 0.5);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 24);
/** Warm-up rounds, which are not measured. */
const WARM_UP_ROUNDS = Math.min(4, ROUNDS);
/** The share of rounds below and above the spread that is shown. */
const BEYOND_SPREAD = 0.1;
const REPORTS = process.env['REPORTS'] ?? path.resolve(__dirname, '../../reports');
const PEERS = ['bare', 'fastify', 'express'];
const ACCOUNTS = Number(process.env['BENCH_ACCOUNTS'] ?? 16);
const GARDEN = { plants: 50, events: Number(process.env['BENCH_EVENTS'] ?? 1500) };

/** A contender in a comparison, and its request. */
interface Contender {
  name: string;
  target: Target;
  samples: readonly Sample[];
}

/** Accounts with a garden each. */
async function makeGardeners(program: Program, server: Target): Promise<Gardener[]> {
  const all: Gardener[] = [];
  for (let index = 0; index < ACCOUNTS; index += 1) {
    all.push(await makeGardener(program, server, { ...GARDEN, user: `gardener-${index}` }));
  }
  return all;
}

/** @throws Error if the responses of contenders differ, except in the cursor, which is opaque */
async function compareAnswers(subject: Subject, targets: readonly Target[]): Promise<void> {
  const [sample] = subject.samples;
  if (!subject.isComparable || !sample) return;
  const [ours, ...others] = await Promise.all(
    targets.map(async (target) => {
      const { text } = await target.send(sample);
      return JSON.parse(text.replace(/"nextCursor":"[^"]*"/, '"nextCursor":null')) as unknown;
    }),
  );
  others.forEach((other, index) => {
    if (isDeepStrictEqual(ours, other)) return;
    throw new Error(`${targets[index + 1]?.name ?? ''} answers otherwise: ${subject.name}.`);
  });
}

/** Loads all contenders in turns. */
async function inTurns(contenders: readonly Contender[]): Promise<Load[][]> {
  const loads: Load[][] = contenders.map(() => []);
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const index = (round + WARM_UP_ROUNDS + turn) % contenders.length;
      const contender = contenders[index];
      const load = await contender?.target.load(contender.samples, SECONDS);
      if (round >= 0 && load) loads[index]?.push(load);
    }
  }
  return loads;
}

function figuresOf(loads: readonly Load[], base: readonly Load[]): Figures {
  const ratios = loads.map(({ rate }, round) => rate / (base[round]?.rate ?? NaN));
  const times = loads.flatMap((load) => load.times);
  return {
    ratio: median(ratios),
    lowest: quantile(ratios, BEYOND_SPREAD),
    highest: quantile(ratios, 1 - BEYOND_SPREAD),
    perSecond: median(loads.map(({ rate }) => rate)),
    cpuMicroseconds: median(loads.map(({ cpu }) => cpu)),
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  };
}

async function measure(
  subject: Subject,
  servers: { hot: Target; cold: Target },
  peers: readonly Target[],
): Promise<Row[]> {
  await compareAnswers(subject, [servers.hot, servers.cold, ...peers]);
  const contenders: Contender[] = [
    ...peers.map((target) => ({ name: target.name, target, samples: subject.samples })),
    ...subject.ways.map(({ name, samples, isCold }) => {
      return { name, target: isCold ? servers.cold : servers.hot, samples };
    }),
  ];
  const loads = await inTurns(contenders);
  const [bare = []] = loads;
  return contenders.map(({ name }, index) => ({
    subject: subject.name,
    contender: name,
    isPeer: index < peers.length,
    ...figuresOf(loads[index] ?? [], bare),
  }));
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'plant-care-bench-'));
  const env = { DATA_DIR: dataDir, ...LIMITS };
  const started: ServingProgram[] = [];
  const start = async (starting: Promise<ServingProgram>): Promise<Target> => {
    const program = await starting;
    started.push(program);
    return program.target;
  };
  try {
    const hot = await start(ServingProgram.server('this server', env));
    const program = await startProgram({
      role: 'tool',
      env: { ...process.env, ...env },
      plugins: loadPlugins(),
    });
    const { mongodbUri, redisUrl = '' } = program.servers;
    const given = { MONGODB_URI: mongodbUri, REDIS_URL: redisUrl };
    const cold = await start(
      ServingProgram.server('this server, cold', { ...LIMITS, ...given, ANSWER_CACHE_MB: '0' }),
    );
    const peers: Target[] = [];
    for (const peer of PEERS) peers.push(await start(ServingProgram.peer(peer, mongodbUri)));
    const users = await makeGardeners(program, hot);
    await program.stop();
    const { etag } = await hot.send(listOf(users[0]?.token ?? ''));
    const rows: Row[] = [];
    for (const subject of subjectsOf(users, etag)) {
      process.stdout.write(`${subject.name}\n`);
      const measured = await measure(subject, { hot, cold }, peers);
      rows.push(...measured);
      for (const { contender, ratio, lowest, highest } of measured) {
        const spread = `${lowest.toFixed(2)} to ${highest.toFixed(2)}`;
        process.stdout.write(`  ${contender.padEnd(28)} ${ratio.toFixed(2)} (${spread})\n`);
      }
    }
    const memory = [...peers, hot].map(({ name, memory: megabytes }) => ({ name, megabytes }));
    writeReport(REPORTS, { seconds: SECONDS, rounds: ROUNDS, rows, memory });
  } finally {
    for (const program of started.reverse()) await program.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? '') : String(error)}\n`);
    process.exit(1);
  },
);
