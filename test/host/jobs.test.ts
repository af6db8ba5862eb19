import pino from 'pino';

import { Metrics } from '../../src/core/metrics';
import { until } from '../support/processes';
import { JobRunner } from '../support/program';

test('a failed job is counted, and its recovery is logged, unless a shutdown aborted it', async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => lines.push(line) });
  const ends = ['fails', 'fails', 'is done', 'fails', 'is broken off'];
  const job = {
    name: 'backup',
    everySeconds: 0.01,
    run: async (signal: AbortSignal): Promise<void> => {
      const end = ends.shift();
      if (end === 'fails') throw new Error('There is no room.');
      if (end === 'is broken off') await until(() => signal.aborted);
    },
  };
  const metrics = new Metrics();
  const jobs = new JobRunner([job], { log, metrics });
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
