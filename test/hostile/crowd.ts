import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { quantile } from '../support/statistics';
import type { RealServer } from '../support/real-server';
import { atLeast, atMost, type Finding, none } from '../support/report';
import type { CrowdOrder, CrowdReport } from './crowd-clients';

/** More connections than the server accepts (docs/running.md, "Bounds"). */
const CLIENTS = Number(process.env['HOSTILE_CLIENTS'] ?? 10_500);
/** Descriptors are limited for each process. */
const PROCESSES = 2;
/** The time limit of an accepted request: until it is read, 10 s in the queue, and a margin for a slow machine. */
const MAX_P99_MS = 30_000;
/** The time-out of probes in deploy/kubernetes. */
const MAX_PROBE_MS = 2000;
/** Shares of the clients. */
const MIN_SERVED = 0.9;
const MAX_CLOSED = 0.05;

/**
 * Very many clients connect and send a request at once; meanwhile the server is probed.
 *
 * @param operatorsUrl the separate port for metrics and probes
 */
export async function meetCrowd(
  server: RealServer,
  tokens: readonly string[],
  operatorsUrl: string,
): Promise<Finding[]> {
  const order: CrowdOrder = {
    port: Number(new URL(server.url).port),
    tokens,
    clients: Math.ceil(CLIENTS / PROCESSES),
  };
  const probes = [
    // On an existing connection, as some supervisors use.
    probe(`${server.url}/healthz`, new Agent({ keepAlive: true })),
    ...['/healthz', '/readyz', '/metrics'].map((path) => probe(`${operatorsUrl}${path}`, false)),
  ];
  const reports = await Promise.all(Array.from({ length: PROCESSES }, () => crowdOf(order)));
  const probed = await Promise.all(probes.map(({ stop }) => stop()));
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
  const countedAs = (outcome: string) => counts.get(outcome) ?? 0;
  return [
    none('crowd: answers other than 200, 429, 503 and a closed connection', wrong),
    atLeast('crowd: clients answered with 200', countedAs('200'), CLIENTS * MIN_SERVED),
    atMost('crowd: clients whose connection was closed', countedAs('closed'), CLIENTS * MAX_CLOSED),
    atMost('crowd: p99 of those answered with 200', quantile(times, 0.99), MAX_P99_MS, 'ms'),
    ...probed.flatMap(({ url, waits, failures }) => {
      const { port, pathname } = new URL(url);
      const what = `${pathname} on ${port === new URL(server.url).port ? 'PORT' : 'METRICS_PORT'}`;
      return [
        atMost(`crowd: longest wait for ${what}`, Math.max(...waits), MAX_PROBE_MS, 'ms'),
        none(`crowd: failures of ${what}`, failures),
      ];
    }),
  ];
}

async function crowdOf(order: CrowdOrder): Promise<CrowdReport> {
  const register = path.join(__dirname, '../servers/register.cjs');
  const child: ChildProcess = fork(path.join(__dirname, 'crowd-clients.ts'), {
    execArgv: ['--require', register],
  });
  const reported = once(child, 'message');
  child.send(order);
  const [report] = (await reported) as [CrowdReport]; // Its only message.
  child.kill();
  await once(child, 'exit');
  return report;
}

/** Sends probes repeatedly; `agent` keeps connections, and false opens a new one each time. */
function probe(url: string, agent: Agent | false) {
  const failures: string[] = [];
  const waits: number[] = [];
  const stopping = new AbortController();
  const probing = (async () => {
    while (!stopping.signal.aborted) {
      const started = performance.now();
      try {
        const status = await statusOf(url, agent);
        if (status !== 200) failures.push(`${url}: ${status}`);
      } catch (error) {
        failures.push(`${url}: ${String(error)}`);
      }
      waits.push(performance.now() - started);
      await sleep(100);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await probing;
      if (agent) agent.destroy();
      return { url, failures, waits };
    },
  };
}

function statusOf(url: string, agent: Agent | false): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume().once('end', () => {
        resolve(response.statusCode);
      });
    }).once('error', reject);
  });
}
