import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import pino from 'pino';

import { PROJECT_FOLDER } from '../../src/core/settings/project';
import { openApiDocument, App, loadPlugins } from '../support/program';
import { type Document, inPython, inTypeScript, type LeastCall, leastCalls } from './least';

/** The generators, which `make test-clients` installs. */
const modules = path.join(__dirname, 'node_modules');

let folder: string;
let documentFile: string;
let calls: LeastCall[];
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'clients-'));
  documentFile = path.join(folder, 'openapi.json');
  const app = new App({ plugins: loadPlugins(), env: {}, log: pino({ level: 'silent' }) });
  const document = JSON.stringify(openApiDocument(app.description));
  writeFileSync(documentFile, document);
  calls = leastCalls(JSON.parse(document) as Document); // The OpenAPI document.
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function run(file: string, ...args: string[]): void {
  // Generators look for their formatters on the PATH.
  const PATH = [path.dirname(file), process.env['PATH']].join(path.delimiter);
  const done = spawnSync(file, args, {
    cwd: folder,
    env: { ...process.env, PATH },
    encoding: 'utf8',
  });
  if (done.status !== 0) throw new Error(`${file} failed: ${done.stdout}${done.stderr}`);
}

/** Compiles generated code. @throws Error with the messages of the compiler */
function compile(...files: string[]): void {
  run(
    process.execPath,
    path.join(PROJECT_FOLDER, 'node_modules/typescript/bin/tsc'),
    ...['--strict', '--noUncheckedIndexedAccess', '--noImplicitOverride', '--noImplicitReturns'],
    ...['--noUnusedLocals', '--noUnusedParameters', '--noEmit', '--types', ''],
    ...['--target', 'es2023', '--module', 'esnext', '--moduleResolution', 'bundler'],
    ...['--lib', 'es2023,dom,dom.iterable', '--singleThreaded', ...files],
  );
}

test("redocly's recommended rules find nothing", () => {
  // In a process of its own: Jest does not load the ES modules of the rules.
  const script = `import { createConfig, lint } from '@redocly/openapi-core';
    // Of terms that are on no list there is nothing to link to.
    const rules = { 'info-license-strict': 'off', 'info-license-url': 'off' };
    const config = await createConfig({ extends: ['recommended'], rules });
    const found = await lint({ ref: process.argv[1], config });
    console.log(JSON.stringify(found.map(({ ruleId, message }) => ruleId + ': ' + message)));`;
  const found = execFileSync(
    process.execPath,
    ['--input-type=module', '--eval', script, documentFile],
    { cwd: __dirname, encoding: 'utf8' },
  );
  expect(JSON.parse(found)).toEqual([]);
});

test('openapi-typescript types and an openapi-ts client compile, with readable names and minimal bodies', () => {
  run(
    process.execPath,
    path.join(modules, 'openapi-typescript/bin/cli.js'),
    ...[documentFile, '--output', 'types.ts'],
  );
  writeFileSync(
    path.join(folder, 'use.ts'),
    `import type { components, operations } from './types';
    type Plant = operations['getPlant']['responses'][200]['content']['application/json'];
    export const nameOf = (plant: Plant): components['schemas']['Plant']['name'] => plant.name;`,
  );
  run(
    process.execPath,
    path.join(modules, '@hey-api/openapi-ts/bin/run.js'),
    ...['--input', documentFile, '--output', 'client', '--no-log-file', '--silent'],
  );
  writeFileSync(
    path.join(folder, 'call.ts'),
    `import { createPlant, type CreatePlantBody, listEvents, type Plant } from './client';
    export async function add(body: CreatePlantBody): Promise<Plant> {
      const { data } = await createPlant({ body, throwOnError: true });
      const events = await listEvents({ path: { id: data.id }, query: { limit: 5 } });
      return events.data?.hasMore === false ? data : { ...data, name: body.name };
    }`,
  );
  writeFileSync(path.join(folder, 'least.ts'), inTypeScript(calls));
  // All at once, since reading the platform's types takes the compiler longest.
  compile('types.ts', 'use.ts', 'least.ts', 'client/index.ts', 'call.ts');
});

test('mypy accepts the client of openapi-python-client', () => {
  const bin = path.join(folder, 'python', 'bin');
  run('python3', '-m', 'venv', 'python');
  run(
    path.join(bin, 'python'),
    ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'],
    ...['openapi-python-client==0.29.1', 'mypy==2.4.1', 'ruff==0.17.6'],
  );
  // It would send CSV as JSON, and reads images as bytes.
  const overrides = { 'text/csv': 'application/json', 'image/svg+xml': 'application/octet-stream' };
  const config = JSON.stringify({ content_type_overrides: overrides });
  writeFileSync(path.join(folder, 'config.json'), config);
  const output = ['--output-path', 'plant_care', '--meta', 'none', '--config', 'config.json'];
  run(
    path.join(bin, 'openapi-python-client'),
    ...['generate', '--path', documentFile, '--fail-on-warning', ...output],
  );
  // The rest is the same for every document.
  const packages = ['--package', 'plant_care.api', '--package', 'plant_care.models'];
  run(path.join(bin, 'mypy'), '--strict', '--follow-imports', 'silent', ...packages);
  writeFileSync(path.join(folder, 'least.py'), inPython(calls));
  run(path.join(bin, 'mypy'), '--strict', '--follow-imports', 'silent', 'least.py');
  const models = readFileSync(path.join(folder, 'plant_care/models/__init__.py'), 'utf8');
  for (const name of ['CreatePlantBody', 'EventPage', 'GrowthUnit', 'Plant']) {
    expect(models).toContain(`"${name}"`);
  }
});
