import Joi from 'joi';
import { Schema } from 'mongoose';
import pino from 'pino';
import supertest from 'supertest';

import { App } from '../../src/app/app';
import { ErrorCode } from '../../src/core/errors';
import { countSetting } from '../../src/core/settings/settings';
import { accountModel } from '../../src/data/model/models';
import { createHttpServer } from '../../src/http/server';
import type { Identity } from '../../src/core/identity';
import { LoaderError } from '../../src/plugins/loader';
import type { Host } from '../../src/plugins/host';
import type { PluginRuntime, Plugin } from '../../src/plugins/plugin';
import { type Operation, read } from '../../src/plugins/operation';

const nothing = async (): Promise<void> => undefined;

const herbNotFound = new ErrorCode('herb_not_found', 404, 'There is no such herb.');

const identity: Identity = {
  authenticate: async () => 'unknown',
  hasToken: () => false,
  open: () => Promise.reject(new Error('Nobody writes here.')),
  close: async () => undefined,
  accountIds: async () => [],
  raiseRevisions: async () => [],
};

const keeper: Plugin = {
  name: 'keeper',
  requires: [],
  setup: () => ({ exports: 'who is who', identity }),
};

function plugin(name: string, setup: (host: Host) => PluginRuntime, facts: object = {}): Plugin {
  return { name, requires: [], setup, ...facts };
}

/** A plugin with operations, which may have faults for the loader to find. */
function herbs(...operations: object[]): Plugin {
  return plugin(
    'herbs',
    () => ({ exports: undefined, operations: () => operations as Operation[] }),
    {
      scopes: { 'herbs:read': 'Read herbs' },
      errors: [herbNotFound],
    },
  );
}

const list = read({
  path: '/api/herbs',
  summary: 'List all herbs',
  access: { scope: 'herbs:read' },
  limit: 'reads',
  response: { status: 200, schema: Joi.array(), description: 'All herbs' },
  tool: { name: 'list_herbs', description: 'List all herbs.' },
  handler: async () => [],
});

/** The same operation under another name, so that only the change can be a fault. */
const other = { ...list, path: '/api/spices', tool: { none: 'only for tests' } };

function appOf(...plugins: Plugin[]): App {
  return new App({ plugins, env: {}, log: pino({ level: 'silent' }) });
}

function refusal(...plugins: Plugin[]): string {
  try {
    appOf(...plugins);
  } catch (error) {
    if (error instanceof LoaderError) return error.message;
    throw error;
  }
  throw new Error('The app refused nothing.');
}

test('a valid operation is accepted', () => {
  expect(appOf(keeper, herbs(list)).operations).toEqual([list]);
});

describe('a single operation', () => {
  test.each<[string, object, string]>([
    ['any token without a reason', { access: { anyToken: '' } }, 'access.anyToken'],
    ['a tool that is explained away by nothing', { tool: { none: '' } }, 'tool.none'],
    [
      'a tool of another spelling',
      { tool: { name: 'listHerbs', description: 'Herbs.' } },
      'tool.name',
    ],
    ['an empty summary', { summary: '' }, 'summary'],
    ['an action that names no record', { audit: 'deleted' }, 'audit'],
  ])('%s is refused with folder, route and key', (_, change, key) => {
    expect(refusal(keeper, herbs({ ...list, ...change }))).toMatch(
      new RegExp(`^plugins/herbs: GET /api/herbs: ${key} `),
    );
  });

  test('an invalid path is refused with folder, route and key', () => {
    expect(refusal(keeper, herbs({ ...list, path: 'api herbs' }))).toMatch(
      /^plugins\/herbs: GET api herbs: path with value api herbs fails/,
    );
  });
});

describe('an operation and the manifests', () => {
  test.each([
    [
      'an unknown scope',
      { ...list, access: { scope: 'herbs:eat' } },
      'GET /api/herbs: access: neither it nor a plugin that it requires declares the scope herbs:eat',
    ],
    [
      'an unknown budget',
      { ...list, limit: 'meals' },
      'GET /api/herbs: limit: neither it nor a plugin that it requires declares the budget meals',
    ],
    [
      'an error that no manifest lists',
      { ...list, errors: [new ErrorCode('herb_eaten', 410, 'It was eaten.')] },
      'GET /api/herbs: errors: no plugin declares the error code herb_eaten',
    ],
    [
      'a parameter of the path that is not listed',
      { ...list, path: '/api/herbs/{id}' },
      'GET /api/herbs/{id}: params: must list the parameters of the path: id',
    ],
    [
      'a listed parameter that the path does not have',
      { ...list, path: '/api/herbs/{id}', params: { id: herbNotFound, leaf: herbNotFound } },
      'GET /api/herbs/{id}: params: must list the parameters of the path: id',
    ],
  ])('%s is refused with folder, route and key', (_, operation, message) => {
    expect(refusal(keeper, herbs(operation))).toBe(`plugins/herbs: ${message}`);
  });

  test.each([
    ['the same path', list.path],
    ['a path that differs in the name of a parameter only', '/api/herbs/{leaf}'],
  ])('a second operation with the same method at %s is refused', (_, path) => {
    const param = /\{(\w+)\}/.exec(path)?.[1];
    const first = param ? { ...list, path: '/api/herbs/{id}', params: { id: herbNotFound } } : list;
    const second = { ...other, path, ...(param ? { params: { [param]: herbNotFound } } : {}) };
    const shape = param ? '/api/herbs/{}' : path;
    expect(refusal(keeper, herbs(first, second))).toBe(
      `plugins/herbs: GET ${path}: the operation GET ${shape} is already declared by plugins/herbs: GET ${first.path}`,
    );
  });

  test('a second tool with the same name is refused with both routes', () => {
    expect(refusal(keeper, herbs(list, { ...other, tool: list.tool }))).toBe(
      'plugins/herbs: GET /api/spices: the tool list_herbs is already declared by plugins/herbs: GET /api/herbs',
    );
  });

  test('all faults between operations are reported at once', () => {
    const message = refusal(
      keeper,
      herbs({ ...list, limit: 'meals' }, { ...other, access: { scope: 'herbs:eat' } }),
    );
    expect(message.split('\n')).toHaveLength(2);
  });
});

describe('contributions of a plugin', () => {
  test('using the exports of a plugin that is not required is refused with both names', () => {
    const nosy = plugin('nosy', (host) => ({ exports: host.use(keeper) }));
    expect(refusal(keeper, nosy)).toBe('plugins/nosy: uses keeper without requiring it');
  });

  test('the exports of a required plugin can be used', () => {
    const friend = plugin('friend', (host) => ({ exports: host.use(keeper) }), {
      requires: ['keeper'],
    });
    expect(appOf(keeper, friend).exportsOf(friend)).toBe('who is who');
  });

  test('a quota without a model is refused, and so is a model without its quota', () => {
    const limit = countSetting('TIER_HERBS', 5, 'Herbs that an account may have');
    const quotas = { herbs: { limits: { free: limit, pro: limit }, error: herbNotFound } };
    const lazy = plugin('lazy', () => ({ exports: undefined }), { quotas });
    expect(refusal(keeper, lazy)).toBe(
      'plugins/lazy: quotas: none of its models counts against herbs',
    );
    const schema = new Schema({ userId: { type: String } }, { collection: 'herbs' });
    const models = [accountModel('Herb', schema, { quota: 'spices' })];
    expect(
      refusal(
        keeper,
        plugin('lazy', () => ({ exports: undefined }), { models }),
      ),
    ).toBe('plugins/lazy: models: the plugin does not declare the quota spices');
  });

  test('a protocol with the path and method of an operation is refused', () => {
    const method = { summary: 'Herbs', access: { public: 'all' }, handler: nothing };
    const talker = plugin('talker', () => ({
      exports: undefined,
      protocols: [{ path: '/api/herbs', methods: { GET: method } }],
    }));
    expect(refusal(keeper, herbs(list), talker)).toBe(
      'plugins/talker: the operation GET /api/herbs is already declared by plugins/herbs: GET /api/herbs',
    );
  });

  test('a program without a plugin that authenticates is refused', () => {
    expect(refusal(herbs(list))).toBe('plugins: exactly one plugin must have an identity: none');
  });

  test('a program with two plugins that authenticate is refused with both names', () => {
    const second = plugin('doorman', () => ({ exports: undefined, identity }));
    expect(refusal(keeper, second)).toBe(
      'plugins: exactly one plugin must have an identity: keeper, doorman',
    );
  });
});

test('a protocol that requires tokens but does not authenticate gets 500', async () => {
  const open = plugin('open', () => ({
    protocols: [
      {
        path: '/api/open',
        methods: {
          POST: {
            summary: 'Forget to ask',
            access: { anyToken: 'it says' },
            handler: async (ctx) => {
              ctx.body = 'secret';
            },
          },
        },
      },
    ],
  }));
  const app = appOf(keeper, open);
  const server = createHttpServer(app.requestListener(), app.settings);
  const { status, text } = await supertest(server).post('/api/open');
  expect([status, text]).toEqual([500, expect.stringContaining('internal_error')]);
});
