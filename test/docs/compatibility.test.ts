import { readFileSync } from 'node:fs';
import path from 'node:path';

import { apiCompare, type Diff } from 'api-smart-diff';

import { PROJECT, PROJECT_FOLDER } from '../../src/core/settings/project';
import { isRecord } from '../../src/core/values';
import { type ObjectSchema, published, type Published, released } from '../support/program';

/** Texts, and responses of errors, whose form is the same everywhere. */
const UNCOMPARED = /^(?:description|example|summary|headers|[45]\d\d)$/;
/** Parts of a path in a document that say nothing to people. */
const STRUCTURE = new Set<unknown>([
  'requestBody',
  'content',
  'application/json',
  'schema',
  'properties',
]);

type Contract = Pick<Published, 'openapi' | 'tools'>;

/**
 * The operations of the API, and one for each tool, whose body has the names of the arguments. Protocol
 * endpoints follow the documents of their protocols.
 */
function documentOf({ openapi, tools }: Contract): object {
  const operations = Object.entries(openapi.paths).filter(([at]) => at.startsWith('/api/'));
  const ofTools = tools.map(({ name, inputSchema: { properties = {}, required = [] } }) => {
    const names = Object.fromEntries(Object.keys(properties).map((argument) => [argument, {}]));
    const post = operationOf({ type: 'object', properties: names, required }, {});
    return [`/tools/${name}`, { post }] as const;
  });
  const paths = Object.fromEntries([...operations, ...ofTools]);
  return { openapi: '3.1.0', info: {}, paths: withoutReferences(paths, openapi) };
}

/** Writes out references, so that a schema is compared where it is sent or received. */
function withoutReferences(value: unknown, document: object, isNamed = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutReferences(item, document));
  if (!isRecord(value)) return value;
  const { $ref: reference, ...own } = value;
  if (typeof reference === 'string') {
    const names = reference.split('/').slice(1);
    const referred = names.reduce<unknown>((at, name) => isRecord(at) && at[name], document);
    return withoutReferences({ ...(referred as object), ...own }, document); // The document is valid.
  }
  const entries = Object.entries(own).filter(([name]) => isNamed || !UNCOMPARED.test(name));
  return Object.fromEntries(
    entries.map(([name, each]) => [name, withoutReferences(each, document, name === 'properties')]),
  );
}

function operationOf(body: object, result: object) {
  const content = (schema: object) => ({ 'application/json': { schema } });
  return {
    requestBody: { content: content(body) },
    responses: { 200: { description: 'The result', content: content(result) } },
  };
}

/** What breaks clients, as the changelog announces it: "`POST /api/plants`: remove `name`". */
function breaking(before: Contract, after: Contract): string[] {
  const { diffs } = apiCompare(documentOf(before), documentOf(after));
  const fresh = diffs
    .filter(({ action, path: at }) => action === 'add' && at.at(-2) === 'properties')
    .map(({ path: at }) => at.at(-1));
  const lines = diffs
    .filter((diff) => isBreaking(diff) && !isOfNew(diff, fresh))
    .map((diff) => {
      const [, at, method, ...field] = diff.path;
      const name = String(at);
      const where = name.startsWith('/tools/')
        ? path.basename(name)
        : [String(method).toUpperCase(), name].join(' ').trim();
      const named = field.at(-2) === 'required' ? [...field.slice(0, -1), diff.after] : field;
      const what = named.filter((part) => !STRUCTURE.has(part)).join(' ');
      return `\`${where}\`: ${diff.action} \`${what}\``;
    });
  return [...new Set(lines)].sort();
}

/** A field that is new may exclude others. */
function isOfNew({ action, path: at, after }: Diff, fresh: readonly unknown[]): boolean {
  const required = isRecord(after) ? [after['required']].flat() : [];
  return action === 'add' && at.at(-3) === 'not' && required.some((name) => fresh.includes(name));
}

/** What may be wider in responses. */
const LIMITS = ['enum', 'maxItems', 'maxLength', 'maximum'];

/** No field may go, and none of a response may get another type; there, limits may be wider. */
function isBreaking({ type, action, path: at }: Diff): boolean {
  if (action === 'remove' && at.at(-2) === 'properties') return true;
  if (at[3] !== 'responses') return type === 'breaking';
  const isOf = (keyword: string): boolean => at.slice(-2).includes(keyword);
  return isOf('type') || (type === 'breaking' && !LIMITS.some(isOf));
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
      return names.split(', ').map((name) => `${name}: ${what}`);
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

const LIGHT = { type: 'string', enum: ['sun', 'shade'], maxLength: 5 };
const NOTHING = { type: 'object', properties: {} };
const HERB = withLight(LIGHT);
const WITH_NAME = { ...HERB, properties: { light: LIGHT, name: { type: 'string' } } };

/** The first schema, in which a field excludes others. */
function without(field: string) {
  return { not: { anyOf: [...HERB.not.anyOf, { required: ['light', field] }] } };
}

function withLight(light: object) {
  return { type: 'object', properties: { light }, not: { anyOf: [{ required: ['dark'] }] } };
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
  ['request', 'with fields that exclude each other', { ...HERB, ...without('shape') }],
  ['response', 'without a field', NOTHING],
  ['response', 'of another type', withLight({ type: 'integer' })],
  ['response', 'with null', withLight({ ...LIGHT, type: ['string', 'null'] })],
  ['tool', 'removed', undefined],
  ['tool', 'without an argument', NOTHING],
  ['tool', 'with a required argument', { ...HERB, required: ['light'] }],
];
const ALLOWED: Change[] = [
  ['request', 'with another field', WITH_NAME],
  ['request', 'with another field that excludes others', { ...WITH_NAME, ...without('name') }],
  ['request', 'with more values', withLight({ type: 'string', enum: ['sun', 'shade', 'dark'] })],
  ['response', 'with another field', WITH_NAME],
  ['response', 'with more values', withLight({ type: 'string', enum: ['sun', 'shade', 'dark'] })],
  ['response', 'with a wider limit', withLight({ ...LIGHT, maxLength: 9 })],
  ['tool', 'with another argument', WITH_NAME],
  ['tool', 'with another schema', withLight({ type: 'integer' })],
];

/** An operation or a tool for each change. */
function contractOf(changes: readonly Change[]): Contract {
  const present = changes.filter(([, , schema]) => schema);
  const paths = present.flatMap(([of, what, schema = {}]) => {
    if (of === 'tool') return [];
    const post = of === 'request' ? operationOf(schema, {}) : operationOf({}, schema);
    return [[`/api/${of} ${what}`, { post }] as const];
  });
  const tools = present.flatMap(([of, what, schema = {}]) =>
    of === 'tool' ? [{ name: `${of} ${what}`, inputSchema: schema }] : [],
  );
  return { openapi: { paths: Object.fromEntries(paths) }, tools };
}

test('removed and narrowed requests, responses and tools break a client; additions do not', () => {
  const changes = [...BREAKING, ...ALLOWED];
  const before = changes.map(([of, what]): Change => [of, what, HERB]);
  const found = breaking(contractOf(before), contractOf(changes));
  const where = found.map((line) => /^`(?:POST \/api\/)?(.*?)`/.exec(line)?.[1]);
  expect([...new Set(where)].sort()).toEqual(BREAKING.map(([of, what]) => `${of} ${what}`).sort());
});
