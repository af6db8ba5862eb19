import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { idText, newId } from '../../src/core/ids';
import { DAY_MS } from '../../src/core/time';
import { logMany } from '../support/bulk';
import { storeLargest } from '../support/largest';
import { NO_LIMITS } from '../support/no-limits';
import { freePort } from '../support/processes';
import { sampleOf, type ProcessSample } from '../support/process-samples';
import { median, quantile } from '../support/statistics';
import {
  asOperator,
  dataDirectory,
  RealServer,
  removeDataDirectory,
  tokensOf,
} from '../support/real-server';
import { atMost, type Finding, none, report } from '../support/report';
import { tlsSettings } from '../support/tls';
import type { AttackReport } from './attacker';
import { attacksOn, CALLS, type Target } from './attacks';
import { meetCrowd } from './crowd';
import { HeldConnections } from './held';
import { type Reader, readerOf } from './reader';

/** The duration of the attacks over HTTP, and then over HTTPS. */
const SECONDS = Number(process.env['HOSTILE_SECONDS'] ?? 60);
const CALM_MS = 10_000;
/** The duration of a warm-up attack: code that runs for the first time takes ten times as long.
 */
const FIRST_ATTACK_MS = 5000;
/** How long a server may stay busy after the attacks. */
const AFTER_ATTACK_MS = 5000;
/** How much longer than usual another account may wait. */
const MAX_RATIO = 4;
const MAX_MEGABYTES = 400;
/** The same with ten thousand concurrent requests. */
const MAX_CROWD_MEGABYTES = 600;
/** How long another account may wait for a server that runs most of its code for the first time. */
const MAX_FIRST_MS = 1000;
/** The limit of open descriptors during attacks on about sixty connections, and of those that remain. */
const MAX_DESCRIPTORS = 300;
const MAX_MORE_DESCRIPTORS = 8;

/** The default budgets, which other tests raise. */
const DEFAULTS = Object.fromEntries(Object.keys(NO_LIMITS).map((name) => [name, undefined]));

interface Attacker {
  process: ChildProcess;
  /** Its last report. */
  report: AttackReport;
}

function attack(target: Target): Attacker {
  const register = path.join(__dirname, '../servers/register.cjs');
  const attacker: Attacker = {
    process: fork(path.join(__dirname, 'attacker.ts'), {
      execArgv: ['--require', register],
      env: { ...process.env, TARGET: JSON.stringify(target) },
    }),
    report: {},
  };
  // It sends only reports.
  attacker.process.on('message', (report) => (attacker.report = report as AttackReport));
  return attacker;
}

/** Attacks that never ran, and calls that were refused only for their token or path. */
function inVain(target: Target, report: AttackReport): string[] {
  const names = attacksOn(target).map(([name]) => name);
  return [
    ...names.filter((name) => !report[name]).map((name) => `${name}: never tried`),
    ...Object.entries(report)
      .filter(([name]) => CALLS.has(name))
      .map(([name, statuses]) => [name, Object.keys(statuses)] as const)
      .filter(([, found]) => found.length > 0 && found.every((each) => /40[14]/.test(each)))
      .map(([name, found]) => `${name}: ${found.join()}`),
  ];
}

/** Fills the attacker's account with records of maximum size, and events on thousands of days. */
function fill(dataDir: string): Promise<Pick<Target, 'plantId' | 'photoIds'>> {
  return asOperator(dataDir, async (app) => {
    await logMany(app, 'mallory', { [idText(newId())]: 5000 }, DAY_MS);
    return storeLargest(app, 'mallory', { plants: 25, events: 2000 });
  });
}

async function sampleWhile(server: RealServer, ms: number): Promise<ProcessSample[]> {
  const samples: ProcessSample[] = [];
  const end = Date.now() + ms;
  while (Date.now() < end) {
    await sleep(500);
    samples.push(sampleOf(server.process.pid));
  }
  return samples;
}

async function withstand(server: RealServer, dataDir: string, ca?: string): Promise<Finding[]> {
  const [token = ''] = await tokensOf(dataDir, ['mallory'], 'free');
  const readers = await tokensOf(dataDir, ['ann', 'bob', 'eve'], 'free');
  const filled = await fill(dataDir);
  const url = server.url.replace('127.0.0.1', 'localhost');
  const reader: Reader = await readerOf(url, readers, ca);
  const target: Target = { ...filled, url, ca, token };
  const unattacked = sampleOf(server.process.pid);
  const held = new HeldConnections(target);
  const whileAttacked = async (ms: number) => {
    const attacker = attack(target);
    const [times, samples] = await Promise.all([reader.times(ms), sampleWhile(server, ms)]);
    if (attacker.process.exitCode !== null) throw new Error('The attacker has ended by itself.');
    attacker.process.kill('SIGKILL');
    await once(attacker.process, 'exit');
    return { times, samples, report: attacker.report };
  };
  const { times: unprepared } = await whileAttacked(FIRST_ATTACK_MS);
  await sleep(AFTER_ATTACK_MS);
  const calm = await reader.times(CALM_MS);
  const { times, samples, report: attacks } = await whileAttacked(SECONDS * 1000);
  await held.wait();
  reader.close();
  await sleep(AFTER_ATTACK_MS);
  const { descriptors: left } = sampleOf(server.process.pid);
  const notClosed = await held.notClosed();
  const [before, during] = [quantile(calm, 0.99), quantile(times, 0.99)];
  const medians = [calm, times].map((all) => median(all).toFixed(1));
  const how = ca === undefined ? 'HTTP' : 'HTTPS';
  console.log(`${how}: medians of another account ${medians.join(' and ')} ms, calm and attacked`);
  const largest = (key: keyof ProcessSample) => Math.max(...samples.map((each) => each[key]));
  const allowed = before * MAX_RATIO;
  const more = left - unattacked.descriptors;
  return [
    atMost(`${how}: p99 of another account, calm ${before.toFixed(1)} ms`, during, allowed, 'ms'),
    atMost(`${how}: longest wait when first attacked`, Math.max(...unprepared), MAX_FIRST_MS, 'ms'),
    atMost(`${how}: memory`, largest('megabytes'), MAX_MEGABYTES, 'MB'),
    none(`${how}: connections that the server does not close`, notClosed),
    atMost(`${how}: descriptors more than before`, more, MAX_MORE_DESCRIPTORS),
    atMost(`${how}: descriptors`, largest('descriptors'), MAX_DESCRIPTORS),
    none(`${how}: attacks that did not get anywhere`, inVain(target, attacks)),
  ];
}

async function crowd(
  server: RealServer,
  dataDir: string,
  operatorsPort: number,
): Promise<Finding[]> {
  const users = Array.from({ length: 50 }, (_, index) => `user ${index}`);
  const tokens = await tokensOf(dataDir, users);
  const findings = await meetCrowd(server, tokens, `http://127.0.0.1:${operatorsPort}`);
  const { megabytes } = sampleOf(server.process.pid);
  return [...findings, atMost('crowd: memory', megabytes, MAX_CROWD_MEGABYTES, 'MB')];
}

async function run(
  env: NodeJS.ProcessEnv,
  test: (server: RealServer, dataDir: string) => Promise<Finding[]>,
): Promise<Finding[]> {
  const dataDir = await dataDirectory();
  const server = await RealServer.start(dataDir, { ...DEFAULTS, ...env });
  try {
    return await test(server, dataDir);
  } finally {
    await server.stop();
    await removeDataDirectory(dataDir);
  }
}

async function main(): Promise<void> {
  const tls = tlsSettings();
  const port = await freePort();
  report([
    ...(await run({}, withstand)),
    ...(await run(tls.env, (server, dataDir) => withstand(server, dataDir, tls.ca))),
    ...(await run({ METRICS_PORT: String(port) }, (server, dataDir) =>
      crowd(server, dataDir, port),
    )),
  ]);
  tls.remove();
}

void main();
