import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import Joi from 'joi';
import pino from 'pino';

import type { Operation } from '../../src/plugins/operation';
import { definePlugin } from '../../src/plugins/plugin';
import { App, surfaceOf, loadPlugins, write, surfaceDocument } from '../support/program';

const file = path.resolve(__dirname, '../../docs/surface.md');
const plugins = loadPlugins();

/** The document of the program with an additional plugin that has this operation. */
function documentWith(operation: Operation): string {
  const herbs = definePlugin({
    name: 'herbs',
    requires: [],
    scopes: { 'herbs:read': 'Read herbs', 'herbs:write': 'Change herbs' },
    setup: () => ({ operations: () => [operation] }),
  });
  const app = new App({ plugins: [...plugins, herbs], env: {}, log: pino({ level: 'silent' }) });
  return surfaceDocument(surfaceOf(app));
}

const create = write({
  method: 'POST',
  path: '/api/herbs',
  summary: 'Add a herb',
  access: { scope: 'herbs:write' },
  body: Joi.object({ name: Joi.string().required() }),
  response: { schema: Joi.object({ id: Joi.string() }), description: 'The herb' },
  tool: { name: 'create_herb', description: 'Add a herb.' },
  handler: async () => ({}),
});

test('docs/surface.md equals the code; make docs regenerates it', () => {
  // With e-mail, so that its pages are in it.
  const env = { SMTP_URL: 'smtp://localhost', MAIL_FROM: 'plants@example.com' };
  const app = new App({ plugins, env, log: pino({ level: 'silent' }) });
  const current = surfaceDocument(surfaceOf(app));
  if (process.env['UPDATE_DOCS'] !== undefined) writeFileSync(file, current);
  expect(readFileSync(file, 'utf8')).toBe(current);
});

test.each<[string, Partial<Operation>]>([
  ['another scope', { access: { scope: 'herbs:read' } }],
  ['any token instead of a scope', { access: { anyToken: 'it is a test' } }],
  ['another rate budget', { limit: 'reads' }],
  ['a feature of one tier', { feature: { name: 'herb garden', tiers: ['pro'] } }],
  ['no Idempotency-Key', { idempotent: false }],
])('%s changes the document', (_what, change) => {
  expect(documentWith({ ...create, ...change })).not.toBe(documentWith(create));
});
