import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import pino from 'pino';
import { App, operationName, pluginsUnderTest } from '../support/program';

const SRC = path.resolve(__dirname, '../../src');

const app = new App({ plugins: pluginsUnderTest(), env: {}, log: pino({ level: 'silent' }) });
const operations = app.operations.filter((operation) => operation.path.startsWith('/api/'));

test('no file of the host names a resource', () => {
  const resources = app.plugins
    .filter((plugin) => plugin.operations.some(({ path: at }) => at.startsWith('/api/')))
    // A plugin without models is about the resources of others.
    .filter(({ plugin }) => (plugin.models ?? []).length > 0)
    // The host knows the owners of records, and those with whom they share.
    .filter(
      ({ contribution: { identity, gardens } }) => identity === undefined && gardens === undefined,
    )
    .map(({ plugin }) => plugin.name.replace(/s$/, ''));
  expect(resources).toContain('plant');
  /** Whether a word, or a capitalized part of it, is the name of a resource. */
  const isNamed = (word: string): boolean =>
    // Node and the plugins themselves have events of their own.
    /^events$/i.test(word) ||
    (word.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? [])
      .map((part) => part.toLowerCase().replace(/s$/, ''))
      .some((part) => part !== 'event' && resources.includes(part));
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.ts'));
  const named = sources.flatMap((file) =>
    readFileSync(path.join(SRC, file), 'utf8')
      .replace(/plant[ -]?care|node:events|domain events/gi, '')
      .split('\n')
      .flatMap((line, index) =>
        (line.match(/\w+/g) ?? []).filter(isNamed).map((word) => `${file}:${index + 1}: ${word}`),
      ),
  );
  expect(sources.length).toBeGreaterThan(0);
  expect(named).toEqual([]);
});

test('all endpoints except a short list require a token', () => {
  const open = app.description.protocols.flatMap(({ path: at, methods }) =>
    Object.entries(methods).flatMap(([method, { access }]) =>
      'public' in access ? [`${method} ${at}`] : [],
    ),
  );
  // docs/specification.md, 5; docs/running.md, "The program from outside"
  const short = [
    'GET /healthz',
    'GET /readyz',
    'GET /metrics',
    'GET /openapi.json',
    'GET /docs',
    'GET /docs/{file}',
    'GET /api/mcp',
    // Callers have no token yet.
    'GET /.well-known/oauth-protected-resource',
    'GET /.well-known/oauth-protected-resource/api/mcp',
    'GET /.well-known/oauth-authorization-server',
    'GET /.well-known/openid-configuration',
    'GET /oauth/jwks',
    'POST /oauth/token',
    'POST /oauth/revoke',
    'POST /oauth/register',
    'GET /oauth/authorize',
    'GET /oauth/authorize/{uid}',
    'GET /oauth/consent/{uid}',
    'POST /oauth/consent/{uid}',
    'GET /sign-in',
    'POST /sign-in',
    'GET /sign-up',
    'POST /sign-up',
    // They redirect people who are not signed in.
    'GET /settings',
    'POST /settings',
    'GET /join',
    'POST /join',
    'GET /garden',
    'POST /garden',
    'GET /garden/{id}',
    'POST /garden/{id}',
    'GET /gardens/{garden}',
    'POST /gardens/{garden}',
    'GET /gardens/{garden}/{id}',
    'POST /gardens/{garden}/{id}',
    'GET /garden.css',
    'GET /garden.webmanifest',
    'GET /garden.js',
    'GET /garden-worker.js',
    'GET /passkeys.js',
    // The secret is in its URL.
    'GET /calendar/{secret}.ics',
    'GET /sitter/{secret}',
    'POST /sitter/{secret}',
    'GET /sitter/{secret}/{id}',
    'POST /sitter/{secret}/{id}',
    // Pages that people see before they sign in.
    'GET /',
    'GET /pages.css',
    'GET /favicon.ico',
    'GET /robots.txt',
  ];
  expect(open.filter((name) => !short.includes(name))).toEqual([]);
});

test('only announcements, the account and the list of gardens accept any token', () => {
  const any = app.operations.filter(({ access }) => 'anyToken' in access).map(operationName);
  expect(any).toEqual(['GET /api/announcements', 'GET /api/gardens', 'GET /api/account']);
});

test('every operation requires the scope of the specification', () => {
  const scopes = operations.map((operation) => [
    operationName(operation),
    'scope' in operation.access ? operation.access.scope : 'any token',
  ]);
  // Resources beyond the specification may be added.
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

test('every operation spends the budget of docs/api.md, "Rate limits"', () => {
  const unexpected = operations.filter(({ method, path: at, limit }) => {
    // Budgets of backends are separate.
    if (/^\/api\/(accounts|webhooks)\b/.test(at)) return limit !== 'backend';
    if (method === 'GET') return limit !== 'reads';
    return limit !== (method === 'POST' && at === '/api/plants' ? 'plants' : 'writes');
  });
  expect(unexpected.map(operationName)).toEqual([]);
});

test('every POST under plants and photos takes an Idempotency-Key', () => {
  const posts = operations.filter(({ method }) => method === 'POST');
  expect(posts.filter(({ path: at }) => /^\/api\/(plants|photos)/.test(at)).length).toBe(6);
  expect(posts.filter(({ idempotent }) => !idempotent).map(operationName)).toEqual([]);
});

test('every operation is a tool named by a verb and a noun, except those for people, backends, files and copies', () => {
  const tools = operations.flatMap(({ tool }) => ('name' in tool ? [tool.name] : []));
  expect(tools.filter((name) => !/^[a-z]+(_[a-z]+)+$/.test(name))).toEqual([]);
  const withoutTool = operations.filter(({ tool }) => 'none' in tool).map(operationName);
  expect(withoutTool.filter((name) => !/ \/api\/(account|webhooks|gardens\/)/.test(name))).toEqual([
    'GET /api/plants',
    'GET /api/changes',
    'GET /api/events/month',
    'GET /api/export',
  ]);
  expect(tools).toHaveLength(operations.length - withoutTool.length);
});
