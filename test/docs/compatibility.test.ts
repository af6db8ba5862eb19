import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { PROJECT, PROJECT_FOLDER } from '../../src/core/settings/project';
import { type ObjectSchema, published, type Published, released } from '../support/program';

const OASDIFF = 'github.com/oasdiff/oasdiff@v1.37.0';
/** Where docs/compatibility.md differs from the defaults: values may be added, and no field may go. */
const LEVELS = `response-mediatype-enum-value-added none
response-property-enum-value-added none
response-optional-property-removed err
`;
/** The twelve months of docs/compatibility.md, "Deprecation". */
const NOTICE_DAYS = 365;
/** How oasdiff names the status of an error; a change of several is announced once. */
const OF_ERROR =
  / (?:from|for) (?:the )?(?:response )?(?:with the )?(?:status )?`[45]\d\d`(?: status)?$/;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'compatibility-'));
  writeFileSync(path.join(folder, 'levels'), LEVELS);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

type Contract = Pick<Published, 'openapi' | 'tools'>;

/** The document with an operation for each tool, whose body has the names of the arguments. */
function documentOf({ openapi, tools }: Contract): object {
  const paths = tools.map(({ name, inputSchema: { properties = {}, required = [] } }) => {
    const names = Object.fromEntries(Object.keys(properties).map((argument) => [argument, {}]));
    const post = operationOf({ type: 'object', properties: names, required }, {});
    return [`/tools/${name}`, { post }] as const;
  });
  return { ...openapi, paths: { ...openapi.paths, ...Object.fromEntries(paths) } };
}

function operationOf(body: object, result: object) {
  const content = (schema: object) => ({ 'application/json': { schema } });
  return {
    requestBody: { content: content(body) },
    responses: { 200: { description: 'The result', content: content(result) } },
  };
}

/** What breaks clients, as the changelog announces it: "`POST /api/plants`: what". */
function breaking(before: Contract, after: Contract): string[] {
  const files = Object.entries({ before, after }).map(([name, contract]) => {
    const file = `${name}.json`;
    writeFileSync(path.join(folder, file), JSON.stringify(documentOf(contract)));
    return file;
  });
  const { error, status, stdout, stderr } = spawnSync(
    'go',
    [
      ...['run', OASDIFF, 'breaking', ...files, '--format', 'json'],
      ...['--severity-levels', 'levels', '--deprecation-days-stable', String(NOTICE_DAYS)],
    ],
    { cwd: folder, encoding: 'utf8', maxBuffer: Infinity },
  );
  if (error) throw new Error('oasdiff needs Go 1.26 or later (https://go.dev).');
  if (status !== 0) throw new Error(stderr);
  // The format of oasdiff.
  const found = JSON.parse(stdout) as Record<'text' | 'operation' | 'path', string>[];
  const lines = found.map(({ text, operation, path: at }) => {
    const where = at.startsWith('/tools/') ? path.basename(at) : `${operation} ${at}`;
    return `\`${where}\`: ${text.replace(OF_ERROR, ' in errors')}`;
  });
  return [...new Set(lines)].sort();
}

/** The changes under "Incompatible" of the next release, without their reasons. */
function announced(): string[] {
  const changelog = readFileSync(path.join(PROJECT_FOLDER, 'CHANGELOG.md'), 'utf8');
  const [, unreleased = ''] = /^## \[Unreleased\]$([^]*?)^## \[/m.exec(changelog) ?? [];
  const [, section = ''] = /^### Incompatible$([^]*?)^##/m.exec(`${unreleased}##`) ?? [];
  return section
    .replaceAll(/\n {2,}/g, ' ')
    .split('\n- ')
    .slice(1)
    .flatMap((line) => {
      const [, names = line, what = ''] = /^((?:`[^`]+`(?:, )?)+): (.*?)\. /.exec(line) ?? [];
      const changes = what.split('; ');
      return names.split(', ').flatMap((name) => changes.map((change) => `${name}: ${change}`));
    })
    .sort();
}

test('what breaks a client of the last release is announced in the changelog with a reason', () => {
  expect(breaking(released(), published())).toEqual(announced());
});

test('the last release is the one that was kept', () => {
  expect(released().openapi).toMatchObject({ info: { version: PROJECT.version } });
});

test('a migration of the last release keeps its id, and its file as long as it runs', () => {
  const { migrations } = published();
  const changed = Object.entries(released().migrations).filter(([id, hash]) => {
    const current = migrations[id];
    return current === undefined || (hash !== null && current !== null && current !== hash);
  });
  expect(changed).toEqual([]);
});

const LIGHT = { type: 'string', enum: ['sun', 'shade'] };
const NOTHING = { type: 'object', properties: {} };
const HERB = withLight(LIGHT);
const WITH_NAME = { type: 'object', properties: { light: LIGHT, name: { type: 'string' } } };

function withLight(light: object) {
  return { type: 'object', properties: { light } };
}

/** What has a schema, what happens to it, and the schema afterwards; none if it is removed. */
type Change = [of: 'request' | 'response' | 'tool', what: string, after: ObjectSchema | undefined];

const BREAKING: Change[] = [
  ['request', 'removed', undefined],
  ['request', 'without a field', NOTHING],
  ['request', 'with a required field', { ...HERB, required: ['light'] }],
  ['request', 'with fewer values', withLight({ type: 'string', enum: ['sun'] })],
  ['request', 'of another type', withLight({ type: 'integer' })],
  ['request', 'with a limit', withLight({ ...LIGHT, maxLength: 3 })],
  ['response', 'without a field', NOTHING],
  ['response', 'of another type', withLight({ type: 'integer' })],
  ['response', 'with null', withLight({ ...LIGHT, type: ['string', 'null'] })],
  ['tool', 'removed', undefined],
  ['tool', 'without an argument', NOTHING],
  ['tool', 'with a required argument', { ...HERB, required: ['light'] }],
];
const ALLOWED: Change[] = [
  ['request', 'with another field', WITH_NAME],
  ['request', 'with more values', withLight({ type: 'string', enum: ['sun', 'shade', 'dark'] })],
  ['response', 'with another field', WITH_NAME],
  ['response', 'with more values', withLight({ type: 'string', enum: ['sun', 'shade', 'dark'] })],
  ['tool', 'with another argument', WITH_NAME],
  ['tool', 'with another schema', withLight({ type: 'integer' })],
];

/** An operation or a tool for each change. */
function contractOf(changes: readonly Change[]): Contract {
  const present = changes.filter(([, , schema]) => schema);
  const paths = present.flatMap(([of, what, schema = {}]) => {
    if (of === 'tool') return [];
    const post = of === 'request' ? operationOf(schema, {}) : operationOf({}, schema);
    return [[`/${of} ${what}`, { post }] as const];
  });
  const tools = present.flatMap(([of, what, schema = {}]) =>
    of === 'tool' ? [{ name: `${of} ${what}`, inputSchema: schema }] : [],
  );
  const openapi = { openapi: '3.1.0', info: { title: 'Herbs', version: '1' } };
  return { openapi: { ...openapi, paths: Object.fromEntries(paths) }, tools };
}

test('removed and narrowed requests, responses and tools break a client; additions do not', () => {
  const changes = [...BREAKING, ...ALLOWED];
  const before = changes.map(([of, what]): Change => [of, what, HERB]);
  const found = breaking(contractOf(before), contractOf(changes));
  const where = found.map((line) => /^`(?:POST \/)?(.*?)`/.exec(line)?.[1]);
  expect([...new Set(where)].sort()).toEqual(BREAKING.map(([of, what]) => `${of} ${what}`).sort());
});
