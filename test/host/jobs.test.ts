import pino from 'pino';

import { forEachTried } from '../../src/core/each';
import { Metrics } from '../../src/core/metrics';
import { until } from '../support/processes';
import { JobRunner } from '../../src/app/jobs';

test('a failed job is counted, and its recovery is logged, unless a shutdown aborted it', async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => lines.push(line) });
  const ends = ['fails', 'has no turn', 'fails', 'is done', 'fails', 'is broken off'];
  const job = {
    name: 'backup',
    everySeconds: 0.01,
    run: async (signal: AbortSignal): Promise<boolean> => {
      const end = ends.shift();
      if (end === 'fails') throw new Error('There is no room.');
      if (end === 'is broken off') await until(() => signal.aborted);
      return end !== 'has no turn';
    },
  };
  const metrics = new Metrics();
  const accounts = { hashAccount: (id: string) => `hash of ${id}` };
  const jobs = new JobRunner([job], { log, metrics, accounts });
  jobs.start();
  await until(() => ends.length === 0);
  await jobs.stop();
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    'A job failed; it will be retried',
    'A failed job has recovered',
    'A job failed; it will be retried',
  ]);
  expect(await metrics.text()).toContain('plantcare_job_failures_total{job_name="backup"} 3\n');
});

test('each account that fails is logged once, by its hash, until it succeeds', async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => lines.push(line) });
  const runs = [['ada'], ['ada'], ['ada', 'bob'], [], ['ada']];
  const run = async (): Promise<void> => {
    const failing = runs.shift() ?? ['ada'];
    const fail = async (account: string) => {
      if (failing.includes(account)) throw new Error('It cannot be read.');
    };
    await forEachTried(['ada', 'bob', 'eve'], fail, { accountOf: (account) => account });
  };
  const accounts = { hashAccount: (id: string) => `hash of ${id}` };
  const job = { name: 'reminders', everySeconds: 0.01, run };
  const jobs = new JobRunner([job], { log, metrics: new Metrics(), accounts });
  jobs.start();
  await until(() => runs.length === 0);
  await jobs.stop();
  expect(lines.map((line) => (JSON.parse(line) as { accounts?: string[] }).accounts)).toEqual([
    ['hash of ada'],
    ['hash of ada', 'hash of bob'],
    undefined,
    ['hash of ada'],
  ]);
});
