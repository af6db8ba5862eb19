import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import pino from 'pino';
import ts from 'typescript';

import { App } from '../../src/app/app';
import { operationName } from '../../src/plugins/operation';
import { FIXTURES_FOLDER, pluginsUnderTest } from '../support/plugins';

const ROOT = path.resolve(__dirname, '../..');
const PLUGIN_FOLDERS = ['plugins', path.relative(ROOT, FIXTURES_FOLDER)];

/** The sources of a folder, by their paths from the root of the project. */
function sources(folder: string): Map<string, string> {
  const files = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => path.join(folder, file))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  return new Map(files.map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')]));
}

interface Import {
  from: string;
  /** The imported file, from the root of the project; undefined for packages. */
  file: string | undefined;
  typesOnly: boolean;
}

/** Every import, export-from, import() and require() of a file. */
function importsOf(from: string, text: string): Import[] {
  const found: Import[] = [];
  const note = (specifier: ts.Node | undefined, typesOnly: boolean): void => {
    if (!specifier || !ts.isStringLiteral(specifier)) return;
    const target = specifier.text.startsWith('.')
      ? path.join(path.dirname(from), specifier.text)
      : undefined;
    found.push({ from, file: target, typesOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) note(node.moduleSpecifier, isTypesOnly(node.importClause));
    else if (ts.isExportDeclaration(node)) note(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      note(node.argument.literal, true);
    else if (ts.isCallExpression(node) && isLoad(node.expression)) note(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(from, text, ts.ScriptTarget.Latest));
  return found;
}

function isTypesOnly(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { namedBindings } = clause;
  return (
    clause.name === undefined &&
    namedBindings !== undefined &&
    ts.isNamedImports(namedBindings) &&
    namedBindings.elements.every((element) => element.isTypeOnly)
  );
}

function isLoad(callee: ts.Expression): boolean {
  return (
    callee.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(callee) && callee.text === 'require')
  );
}

const plugins = pluginsUnderTest();
const app = new App({ plugins, env: {}, log: pino({ level: 'silent' }) });

/** Which plugin a file belongs to, and what it is called there. */
function placeOf(file: string): { plugin: string; module: string } | undefined {
  const folder = PLUGIN_FOLDERS.find((each) => file.startsWith(each + path.sep));
  if (folder === undefined) return undefined;
  const [plugin = '', ...rest] = path.relative(folder, file).split(path.sep);
  return { plugin, module: rest.join('/').replace(/\.ts$/, '') || 'index' };
}

const crossings = PLUGIN_FOLDERS.flatMap((folder) => [...sources(folder)]).flatMap(([file, text]) =>
  importsOf(file, text).flatMap((each) => {
    const from = placeOf(each.from);
    const to = each.file === undefined ? undefined : placeOf(each.file);
    return from && to && from.plugin !== to.plugin ? [{ ...each, from, to }] : [];
  }),
);

const operations = app.operations.filter((operation) => operation.path.startsWith('/api/'));

test('no file of the host names a resource', () => {
  const resources = app.plugins
    .filter((plugin) => plugin.operations.some(({ path: at }) => at.startsWith('/api/')))
    .map(({ plugin }) => plugin.name.replace(/s$/, ''));
  expect(resources).toContain('plant');
  // Node and the plugins themselves have events of their own.
  const words = resources.map((name) => (name === 'event' ? '\\bevents\\b' : `\\b\\w*${name}\\w*`));
  const resource = new RegExp(words.join('|'), 'gi');
  const named = [...sources('src')].flatMap(([file, text]) =>
    text
      .replace(/plant[ -]?care|node:events|domain events/gi, '')
      .split('\n')
      .flatMap((line, index) =>
        (line.match(resource) ?? []).map((word) => `${file}:${index + 1}: ${word}`),
      ),
  );
  expect(named).toEqual([]);
});

test('the host imports nothing of any plugin', () => {
  const imported = [...sources('src')]
    .flatMap(([file, text]) => importsOf(file, text))
    .filter(({ file }) => file !== undefined && placeOf(file) !== undefined);
  expect(imported).toEqual([]);
});

test('plugins import of each other only the index and the domain events, types included', () => {
  expect(crossings.length).toBeGreaterThan(0);
  const inside = crossings.filter(({ to }) => !['index', 'domain-events'].includes(to.module));
  expect(inside).toEqual([]);
});

test('plugins import from those only that their manifests require', () => {
  const undeclared = crossings
    .filter(({ from, to }) => {
      const manifest = plugins.find(({ name }) => name === from.plugin);
      return !manifest?.requires.includes(to.plugin);
    })
    .map(({ from, to }) => `${from.plugin}/${from.module} imports ${to.plugin}/${to.module}`);
  expect(undeclared).toEqual([]);
});

test('everything but the short list of public operations needs a token', () => {
  const open = [
    ...app.operations.filter(({ access }) => 'public' in access).map(operationName),
    ...app.transports.flatMap(({ path: at, methods }) =>
      Object.entries(methods).flatMap(([method, { access }]) =>
        'public' in access ? [`${method} ${at}`] : [],
      ),
    ),
  ];
  // Section 5, and decisions.md, "The program from outside".
  const short = [
    'GET /healthz',
    'GET /readyz',
    'GET /metrics',
    'GET /openapi.json',
    'GET /docs',
    'GET /docs/{file}',
    'GET /api/mcp',
  ];
  expect(open.filter((name) => !short.includes(name))).toEqual([]);
});

test('only the list of announcements is open to any token', () => {
  const any = app.operations.filter(({ access }) => 'anyToken' in access).map(operationName);
  expect(any).toEqual(['GET /api/announcements']);
});

test('every operation asks for the scope of section 4', () => {
  const scopes = operations.map((operation) => [
    operationName(operation),
    'scope' in operation.access ? operation.access.scope : 'any token',
  ]);
  // A resource that the specification does not know may come beside these.
  expect(Object.fromEntries(scopes)).toMatchObject({
    'GET /api/plants': 'plants:read',
    'POST /api/plants': 'plants:write',
    'GET /api/plants/{id}': 'plants:read',
    'PATCH /api/plants/{id}': 'plants:write',
    'DELETE /api/plants/{id}': 'plants:write',
    'GET /api/locations': 'plants:read',
    'GET /api/plants/{id}/events': 'plants:read',
    'POST /api/plants/{id}/events': 'events:write',
    'GET /api/plants/{id}/events/month': 'plants:read',
    'PATCH /api/events/{id}': 'events:write',
    'DELETE /api/events/{id}': 'events:write',
    'POST /api/photos': 'plants:write',
    'GET /api/photos/{id}': 'plants:read',
    'PATCH /api/photos/{id}': 'plants:write',
    'GET /api/insights': 'insights:read',
    'GET /api/announcements': 'any token',
  });
  expect([...app.scopes.keys()]).toEqual(
    expect.arrayContaining(['events:write', 'insights:read', 'plants:read', 'plants:write']),
  );
});

test('every operation of the API spends the budget that decisions.md gives it', () => {
  const unexpected = operations.filter(({ method, path: at, limit }) => {
    if (method === 'GET') return limit !== 'reads';
    return limit !== (method === 'POST' && at === '/api/plants' ? 'plants' : 'writes');
  });
  expect(unexpected.map(operationName)).toEqual([]);
});

test('every POST under plants and photos takes an Idempotency-Key', () => {
  const posts = operations.filter(({ method }) => method === 'POST');
  expect(posts.filter(({ path: at }) => /^\/api\/(plants|photos)/.test(at)).length).toBe(3);
  expect(posts.filter(({ idempotent }) => !idempotent).map(operationName)).toEqual([]);
});

test('every operation of the API is a tool, named by a verb and a noun', () => {
  const tools = operations.flatMap(({ tool }) => ('name' in tool ? [tool.name] : []));
  expect(tools.filter((name) => !/^[a-z]+(_[a-z]+)+$/.test(name))).toEqual([]);
  expect(tools).toHaveLength(operations.length);
});
