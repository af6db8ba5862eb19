import { readFileSync } from 'node:fs';
import path from 'node:path';

import { PROJECT_FOLDER } from '../../src/core/settings/project';
import { DAY_MS } from '../../src/core/time';
import { type Family, familiesOf, valueOf } from '../support/metrics';
import {
  countRefusals,
  dataDirectory,
  giveBack,
  removeDataDirectory,
  startProgram,
  takeDatabase,
  tlsSettings,
} from '../support/program';

const METRIC = /\b(?:plantcare|process|nodejs)_\w+/g;

/** A monitoring file in deploy/. */
function content(file: string): string {
  return readFileSync(path.join(PROJECT_FOLDER, 'deploy', file), 'utf8');
}

/** The metrics of a server, including those of its certificate. */
let families: Map<string, Family>;
/** The names of all its samples. */
let known: Set<string>;

beforeAll(async () => {
  const database = takeDatabase();
  const dataDir = await dataDirectory();
  const tls = tlsSettings(10);
  const program = await startProgram({
    role: 'server',
    env: {
      ...tls.env,
      BACKUP_EVERY_HOURS: '24',
      SMTP_URL: 'smtp://127.0.0.1:2525',
      MAIL_FROM: 'plants@example.com',
      MONGODB_URI: database,
      REDIS_URL: process.env['TEST_REDIS_URL'],
      DATA_DIR: dataDir,
    },
  });
  try {
    const { app } = program;
    // As a server does before it accepts requests.
    app.requestListener();
    countRefusals(app.metrics, program.log);
    app.metrics.collectProcessFigures();
    families = familiesOf(await app.metrics.text());
    known = new Set(
      [...families.values()].flatMap(({ name, type }) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
  } finally {
    await program.stop();
    await removeDataDirectory(dataDir);
    await giveBack(database);
    tls.remove();
  }
});

test.each(['grafana/plant-care.json', 'prometheus/alerts.yml', 'prometheus/alerts.test.yml'])(
  '%s names only existing metrics',
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

test('the expiry of the certificate is measured in Unix seconds', () => {
  const expiry = valueOf(families, 'plantcare_tls_certificate_expiry_timestamp_seconds') ?? NaN;
  expect((expiry * 1000 - Date.now()) / DAY_MS).toBeCloseTo(10, 0);
});
