/**
 * How times grow with what there is: events of an account, accounts, writers, events of a plant that
 * is deleted. Writes performance-scale.md to reports/, or to the folder REPORTS.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import eventsPlugin from '../../plugins/events';
import { type Program, startProgram } from '../../src/app/program';
import { loadPlugins } from '../../src/plugins/loader';
import { median } from '../support/statistics';
import { fillWithAccounts } from './fill-accounts';
import { LIMITS, makeGardener } from './gardens';
import type { Target } from './load';
import { ServingProgram } from './programs';
import { ACTIONS, deletionOf, INSIGHTS, LIST, newEvent, timesOf } from './scale-actions';
import { type Growth, type ScaleReport, writeScaleReport } from './scale-report';
import type { Gardener } from './subjects';

const REPORTS = process.env['REPORTS'] ?? path.resolve(__dirname, '../../reports');
const SIZES = numbers('SCALE_EVENTS', '1000,10000,100000,1000000');
const ACCOUNTS = numbers('SCALE_ACCOUNTS', '10,10000');
const [DELETED = 0] = numbers('SCALE_DELETED_EVENTS', '100000');
const [ROUNDS = 0] = numbers('SCALE_ROUNDS', '9');
const [REPEATS = 0] = numbers('SCALE_REPEATS', '20');
const [SECONDS = 0] = numbers('SCALE_SECONDS', '2');
const PLANTS = 50;
const WRITERS = 16;

/** A contender: an account and its server. */
interface Contender {
  target: Target;
  gardener: Gardener;
}

function numbers(name: string, otherwise: string): number[] {
  return (process.env[name] ?? otherwise).split(',').map(Number);
}

/** Times every action of all contenders in turns; the first round is a warm-up. */
async function growthOf(contenders: readonly Contender[]): Promise<Growth[]> {
  const rows: Growth[] = [];
  for (const action of ACTIONS) {
    const rounds: number[][][] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const times: number[][] = [];
      for (let turn = 0; turn < contenders.length; turn += 1) {
        const index = (round + turn) % contenders.length;
        const contender = contenders[index];
        if (!contender) continue;
        times[index] = await timesOf(action, contender.target, contender.gardener, REPEATS);
      }
      if (round > 0) rounds.push(times);
    }
    const p50 = contenders.map((_, index) => median(rounds.flatMap((times) => times[index] ?? [])));
    const ratios = rounds.map((times) => median(times.at(-1) ?? []) / median(times.at(-2) ?? []));
    rows.push({ action: action.name, p50, ratio: median(ratios) });
    const shown = p50.map((ms) => ms.toFixed(2)).join('  ');
    process.stdout.write(`  ${action.name.padEnd(20)} ${shown}  ${median(ratios).toFixed(2)}\n`);
  }
  return rows;
}

/** Events per second that writers on one account create through these processes. */
async function contention(targets: readonly Target[], gardener: Gardener): Promise<number> {
  const connections = WRITERS / targets.length;
  const loads = await Promise.all(
    targets.map((target) => target.load([newEvent(gardener)], SECONDS, connections)),
  );
  return loads.reduce((sum, { rate }) => sum + rate, 0);
}

/** Deletes a plant with many events while another account reads. */
async function deletion(
  { app }: Program,
  target: Target,
  { owner, reader }: { owner: Gardener & { user: string }; reader: Gardener },
): Promise<ScaleReport['deletion']> {
  const page = ACTIONS.find(({ name }) => name === 'page of 15 events');
  if (!page) throw new Error('There is no such action.');
  const before = await timesOf(page, target, reader, REPEATS * ROUNDS);
  const started = performance.now();
  await target.send(deletionOf(owner));
  const answered = performance.now();
  const { deletions } = app.exportsOf(eventsPlugin);
  const meanwhile: number[] = [];
  const left = (): Promise<string[]> =>
    app.database.snapshot((session) => deletions.plantIds(owner.user, session));
  while ((await left()).length > 0) {
    meanwhile.push(...(await timesOf(page, target, reader, REPEATS)));
    await sleep(1);
  }
  return {
    events: DELETED,
    answeredMs: answered - started,
    finishedMs: performance.now() - answered,
    p50Before: median(before),
    p50Meanwhile: median(meanwhile),
  };
}

/** Servers and programs on one MongoDB, all stopped at the end. */
class Stage {
  readonly #dataDir = mkdtempSync(path.join(tmpdir(), 'plant-care-scale-'));
  readonly #started: { stop(): Promise<void> }[] = [];

  /** A program with its own servers, or on one of their databases. */
  async program(given: NodeJS.ProcessEnv = {}): Promise<Program> {
    const env = { ...process.env, DATA_DIR: this.#dataDir, ...LIMITS, ...given };
    const program = await startProgram({ role: 'server', env, plugins: loadPlugins() });
    this.#started.push(program);
    return program;
  }

  /** A server without a response cache. */
  async server({ servers }: Program, MONGODB_URI = servers.mongodbUri): Promise<Target> {
    const given = { MONGODB_URI, REDIS_URL: servers.redisUrl ?? '' };
    const env = { ...LIMITS, ...given, ANSWER_CACHE_MB: '0' };
    const server = await ServingProgram.server('this server', env);
    this.#started.push(server);
    return server.target;
  }

  async end(): Promise<void> {
    for (const each of this.#started.reverse()) await each.stop();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}

async function byAccounts(stage: Stage, program: Program): Promise<Growth[]> {
  const contenders: Contender[] = [];
  for (const accounts of ACCOUNTS) {
    const uri = new URL(program.servers.mongodbUri);
    uri.pathname = `/accounts_${accounts}`;
    const target = await stage.server(program, uri.href);
    const own = await stage.program({ MONGODB_URI: uri.href });
    const user = 'gardener';
    const gardener = await makeGardener(own, target, { user, plants: PLANTS, events: 100 });
    await fillWithAccounts(own.app.database.connection, user, accounts);
    contenders.push({ target, gardener });
  }
  return growthOf(contenders);
}

async function main(): Promise<void> {
  const stage = new Stage();
  try {
    const program = await stage.program();
    // On a busy machine, counting a million events takes longer than the usual 10 s.
    const lifetime = { transactionLifetimeLimitSeconds: 600 };
    await program.app.database.connection.db?.admin().command({ setParameter: 1, ...lifetime });
    const target = await stage.server(program);
    const contenders: Contender[] = [];
    for (const events of SIZES) {
      process.stdout.write(`an account with ${events} events\n`);
      const garden = { user: `gardener-${events}`, plants: PLANTS, events };
      contenders.push({ target, gardener: await makeGardener(program, target, garden) });
    }
    const bySize = await growthOf(contenders);
    const p50Of = (name: string) => bySize.find(({ action }) => action === name)?.p50.at(-1) ?? NaN;
    const few = { user: 'gardener-of-one', plants: 1, events: DELETED };
    const owner = { ...(await makeGardener(program, target, few)), user: few.user };
    const [{ gardener: reader } = { gardener: owner }] = contenders;
    const deleted = await deletion(program, target, { owner, reader });
    const second = await stage.server(program);
    const oneProcess = await contention([target], reader);
    const twoProcesses = await contention([target, second], reader);
    process.stdout.write('accounts\n');
    writeScaleReport(REPORTS, {
      repeats: REPEATS,
      rounds: ROUNDS,
      sizes: SIZES,
      bySize,
      insightsToList: p50Of(INSIGHTS) / p50Of(LIST),
      accounts: ACCOUNTS,
      byAccounts: await byAccounts(stage, program),
      contention: { oneProcess, twoProcesses },
      deletion: deleted,
    });
  } finally {
    await stage.end();
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? '') : String(error)}\n`);
    process.exit(1);
  },
);
