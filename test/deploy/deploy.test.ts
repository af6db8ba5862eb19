import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { DEPLOY } from './dockerfile';
import { startService } from '../support/program';

function content(file: string): string {
  return readFileSync(path.join(DEPLOY, file), 'utf8');
}

test('the image is built in two stages, runs as a non-root user and has a health check', () => {
  const stages = content('Dockerfile')
    .split(/^FROM /m)
    .slice(1);
  expect(stages).toHaveLength(2);
  const [, last = ''] = stages;
  expect(last).toMatch(/:nonroot$/m);
  expect(last).toMatch(/^HEALTHCHECK /m);
  expect(last).not.toMatch(/^(RUN|USER root)/m);
});

test('the health check of the image distinguishes a ready server from one that is not', async () => {
  const [, code = ''] = /"-e", "(.*)"\]/.exec(content('Dockerfile')) ?? [];
  const check = async (port: string) => {
    const checking = spawn(process.execPath, ['-e', code], { env: { PORT: port } });
    return (await once(checking, 'exit'))[0] as number | null; // The arguments of the event.
  };
  const service = await startService({ jobs: false });
  const { port } = new URL(service.url);
  try {
    expect(await check(port)).toBe(0);
  } finally {
    await service.close();
  }
  expect(await check(port)).toBe(1);
});

test('every workload of a cluster has a policy for what may reach it', () => {
  const objects = content('kubernetes/plant-care.yaml').split(/^---$/m);
  const namesOf = (text: RegExp, name: RegExp) =>
    objects.filter((object) => text.test(object)).map((object) => name.exec(object)?.[1]);
  const workloads = namesOf(/^\s+containers:$/m, /^ {2}name: (\S+)$/m);
  const selected = namesOf(/^kind: NetworkPolicy$/m, /matchLabels: \{ app\S+: (\S+) \}/);
  expect(workloads).toHaveLength(2);
  expect(selected.sort()).toEqual(workloads.sort());
});

test('no Service of a cluster sets a variable of the program, such as ADMIN_PORT', () => {
  const objects = content('kubernetes/plant-care.yaml').split(/^---$/m);
  const runs = objects.filter((text) => /^\s+containers:$/m.test(text));
  expect(runs.length).toBeGreaterThan(0);
  for (const text of runs) expect(text).toMatch(/^ {6}enableServiceLinks: false$/m);
});
