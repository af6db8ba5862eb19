import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { DEPLOY } from './dockerfile';
import { scrape } from '../support/metrics';
import {
  dataDirectory,
  RealServer,
  removeDataDirectory,
  startService,
  tlsSettings,
} from '../support/program';

const METRIC = /\b(?:plantcare|process|nodejs)_\w+/g;

function content(file: string): string {
  return readFileSync(path.join(DEPLOY, file), 'utf8');
}

/** The names of all samples that a server has, that of its certificate included. */
async function allNames(): Promise<Set<string>> {
  const dataDir = await dataDirectory();
  const tls = tlsSettings();
  const server = await RealServer.start(dataDir, tls.env);
  try {
    const families = await scrape(server.url, tls.ca);
    return new Set(
      [...families.values()].flatMap(({ name, type }) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
  } finally {
    await server.stop();
    await removeDataDirectory(dataDir);
    tls.remove();
  }
}

describe('what is deployed to watch the service', () => {
  let known: Set<string>;
  beforeAll(async () => {
    known = await allNames();
  }, 90_000);

  test.each(['grafana/plant-care.json', 'prometheus/alerts.yml'])(
    '%s names no metric that there is not',
    (file) => {
      const named = content(file).match(METRIC) ?? [];
      expect(named.length).toBeGreaterThan(10);
      expect(named.filter((name) => !known.has(name))).toEqual([]);
    },
  );

  test('the dashboard shows every metric of the program', () => {
    const shown = content('grafana/plant-care.json');
    const own = [...known].filter((name) => /^plantcare_(?!.*_(bucket|sum|count)$)/.test(name));
    expect(own.filter((name) => !shown.includes(name))).toEqual([]);
  });
});

test('the image is built in two stages, runs as nobody in particular and checks itself', () => {
  const stages = content('Dockerfile')
    .split(/^FROM /m)
    .slice(1);
  expect(stages).toHaveLength(2);
  const [, last = ''] = stages;
  expect(last).toMatch(/:nonroot$/m);
  expect(last).toMatch(/^HEALTHCHECK /m);
  expect(last).not.toMatch(/^(RUN|USER root)/m);
});

test('the health check of the image tells a server that serves from one that does not', async () => {
  const [, code = ''] = /"-e", "(.*)"\]/.exec(content('Dockerfile')) ?? [];
  const check = async (port: string) => {
    const checking = spawn(process.execPath, ['-e', code], { env: { PORT: port } });
    return (await once(checking, 'exit'))[0] as number | null; // What the event carries.
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
