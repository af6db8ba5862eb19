import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { quantile } from '../support/statistics';
import type { RealServer } from '../support/real-server';
import { atMost, type Finding, none } from '../support/report';
import type { CrowdOrder, CrowdReport } from './crowd-clients';

/** More connections than the server takes (README.md). */
const CLIENTS = Number(process.env['HOSTILE_CLIENTS'] ?? 10_500);
/** Descriptors are limited for each process. */
const PROCESSES = 2;
/** What an accepted request may take: until it is read, 10 s until its turn, and a slow machine. */
const MAX_P99_MS = 30_000;
const MAX_HEALTH_MS = 5000;

/** Has very many clients connect and ask at once, and watches over `/healthz` meanwhile. */
export async function meetCrowd(server: RealServer, tokens: readonly string[]): Promise<Finding[]> {
  const order: CrowdOrder = {
    port: Number(new URL(server.url).port),
    tokens,
    clients: Math.ceil(CLIENTS / PROCESSES),
  };
  // On a connection that is there before, as a supervisor has.
  const health = watchHealth(server.url);
  const reports = await Promise.all(Array.from({ length: PROCESSES }, () => crowdOf(order)));
  const waits = await health.stop();
  const times = reports.flatMap(({ accepted }) => accepted);
  const counts = new Map<string, number>();
  for (const { outcomes } of reports) {
    for (const [outcome, count] of Object.entries(outcomes)) {
      counts.set(outcome, (counts.get(outcome) ?? 0) + count);
    }
  }
  console.log(
    `${CLIENTS} clients: ${[...counts].map(([what, count]) => `${count} ${what}`).join(', ')}`,
  );
  const wrong = [...counts.keys()].filter(
    (what) => !['200', '429', '503', 'closed'].includes(what),
  );
  return [
    none('crowd: answers other than 200, 429, 503 and a closed connection', wrong),
    atMost('crowd: p99 of those answered with 200', quantile(times, 0.99), MAX_P99_MS, 'ms'),
    atMost('crowd: longest wait for /healthz', Math.max(...waits), MAX_HEALTH_MS, 'ms'),
    none('crowd: failures of /healthz', health.failures),
  ];
}

async function crowdOf(order: CrowdOrder): Promise<CrowdReport> {
  const register = path.join(__dirname, '../servers/register.cjs');
  const child: ChildProcess = fork(path.join(__dirname, 'crowd-clients.ts'), {
    execArgv: ['--require', register],
  });
  const reported = once(child, 'message');
  child.send(order);
  const [report] = (await reported) as [CrowdReport]; // The one message that it sends.
  child.kill();
  await once(child, 'exit');
  return report;
}

function watchHealth(url: string) {
  const failures: string[] = [];
  const waits: number[] = [];
  const stopping = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      const started = performance.now();
      try {
        const { status } = await fetch(`${url}/healthz`);
        if (status !== 200) failures.push(`/healthz: ${status}`);
      } catch (error) {
        failures.push(`/healthz: ${String(error)}`);
      }
      waits.push(performance.now() - started);
      await sleep(100);
    }
  })();
  return {
    failures,
    stop: async () => {
      stopping.abort();
      await watching;
      return waits;
    },
  };
}
