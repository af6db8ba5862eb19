import { setTimeout as sleep } from 'node:timers/promises';

import { scopesOf } from '../../src/plugins/plugin';
import { DAY_MS } from '../../src/core/time';
import type { TestService } from '../support/service';
import { record } from '../support/client';
import { CommandLine, resultOf, run } from './run';
import { loadPlugins, startService, userOf } from '../support/program';

/** The default scopes of a token; others must be requested by name. */
const ALL_SCOPES = [...scopesOf(loadPlugins()).keys()].filter((scope) => !/^account/.test(scope));
const UNKNOWN_ID = '019b2f6e-51a0-7c3e-9d59-0d5c0a2f7b11';

let service: TestService;
let cli: CommandLine;

beforeAll(async () => {
  service = await startService({});
  cli = new CommandLine(service.mongodbUri);
});

afterAll(() => service.close());

const YEAR_MS = 365 * DAY_MS;

/** Expects a moment to be within a minute of another. */
function expectAbout(moment: unknown, expected: number): void {
  expect(Math.abs(Date.parse(String(moment)) - expected)).toBeLessThan(60_000);
}

test('token create creates an account, and a token that the running server accepts', async () => {
  const ended = await cli.run('token', 'create', '--user', 'ada', '--json');
  const made = record(resultOf(ended));
  expect(Object.keys(made)).toEqual(['id', 'token', 'user', 'tier', 'scopes', 'expiresAt']);
  expect(made).toMatchObject({ user: 'ada', tier: 'free', scopes: ALL_SCOPES });
  expect(made['token']).toMatch(/^tnd_mcp_[0-9A-Za-z]{36,}$/);
  expectAbout(made['expiresAt'], Date.now() + YEAR_MS);
  await userOf(service.url, 'ada', String(made['token'])).get('/api/plants').expect(200);
});

test('token create takes tier, scopes, name and lifetime, and sets the tier of the account', async () => {
  const options = ['--scopes', 'plants:read, plants:read', '--expires-in', '60', '--name', 'phone'];
  const first = record(await cli.json('token', 'create', '--user', 'bob', ...options));
  expect(first).toMatchObject({ tier: 'free', scopes: ['plants:read'] });
  expectAbout(first['expiresAt'], Date.now() + 60_000);
  const text = await cli.text('token', 'create', '--user', 'bob', '--tier', 'pro');
  expect(text).toMatch(/^Token of bob \(pro tier\), valid until \S+Z:\ntnd_mcp_\w+\n/);
  expect(await cli.json('token', 'list', '--user', 'bob')).toMatchObject([
    { id: first['id'], user: 'bob', name: 'phone', revokedAt: null, lastUsedAt: null },
    { user: 'bob', name: 'token', scopes: ALL_SCOPES },
  ]);
});

test('lists never show a token', async () => {
  const made = record(await cli.json('token', 'create', '--user', 'eve'));
  for (const said of [
    await cli.text('token', 'list'),
    await cli.text('token', 'list', '--json'),
    await cli.text('user', 'show', 'eve', '--json'),
  ]) {
    expect(said).not.toContain(String(made['token']));
    expect(said).not.toContain('hash');
  }
  expect(await cli.text('token', 'list', '--user', 'eve')).toMatch(
    /^ID +USER +NAME +SCOPES +STATE +LAST USED\n\S+ +eve +token +\S+ +valid until \S+Z +never\n$/,
  );
  expect(await cli.text('token', 'list', '--user', 'eve', '--expiring', '1')).toBe('No tokens.\n');
});

test('token revoke takes effect on the next request', async () => {
  const made = record(await cli.json('token', 'create', '--user', 'carl'));
  const carl = userOf(service.url, 'carl', String(made['token']));
  await carl.get('/api/plants').expect(200);
  const revoked = record(await cli.json('token', 'revoke', String(made['id'])));
  expect(revoked).toMatchObject({ id: made['id'], user: 'carl' });
  expectAbout(revoked['revokedAt'], Date.now());
  await carl.get('/api/plants').expect(401);
  expect(await cli.text('token', 'revoke', String(made['id']))).toBe(
    'The token token of carl is revoked.\n',
  );
  expect(record(await cli.json('token', 'revoke', String(made['id'])))['revokedAt']).toBe(
    revoked['revokedAt'],
  );
});

test('token create takes its lifetime as a duration, and token list shows what expires soon', async () => {
  const create = (duration: string) =>
    cli.json('token', 'create', '--user', 'fay', '--expires-in', duration).then(record);
  const [soon, later] = [await create('15m'), await create('90d')];
  expectAbout(soon['expiresAt'], Date.now() + 15 * 60_000);
  expectAbout(later['expiresAt'], Date.now() + 90 * DAY_MS);
  const list = (...options: string[]) => cli.json('token', 'list', '--user', 'fay', ...options);
  expect(await list('--expiring', '30d')).toMatchObject([{ id: soon['id'] }]);
  expect(await list('--expiring', '91d')).toHaveLength(2);
  await cli.json('token', 'revoke', String(soon['id']));
  expect(await list('--expiring', '30d')).toEqual([]);
});

test.each(['0', '1w', '-1', '90 d', '36501d', 'soon'])(
  'a lifetime of %p is refused, with the valid forms',
  async (lifetime) => {
    const ended = await cli.run('token', 'create', '--user', 'fay', `--expires-in=${lifetime}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/15m, 24h or 90d/);
  },
);

test('token rotate creates a new token, and the old one expires after the overlap', async () => {
  const made = record(await cli.json('token', 'create', '--user', 'gil', '--expires-in', '30d'));
  const ended = await cli.run('token', 'rotate', String(made['id']), '--json');
  const rotated = record(resultOf(ended));
  expect(Object.keys(rotated)).toEqual(['id', 'token', 'user', 'scopes', 'expiresAt', 'rotated']);
  expect(rotated).toMatchObject({ user: 'gil', rotated: { id: made['id'] } });
  expectAbout(rotated['expiresAt'], Date.now() + 30 * DAY_MS);
  expectAbout(record(rotated['rotated'])['expiresAt'], Date.now() + DAY_MS);
  for (const { token } of [made, rotated]) {
    await userOf(service.url, 'gil', String(token)).get('/api/plants').expect(200);
  }
  const text = await cli.text('token', 'rotate', String(rotated['id']), '--overlap', '0');
  expect(text).toMatch(
    /^New token of gil, valid until \S+Z:\ntnd_mcp_\w+\nIt will not be shown again\. /,
  );
  await userOf(service.url, 'gil', String(rotated['token'])).get('/api/plants').expect(401);
  const again = await cli.run('token', 'rotate', String(made['id']));
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toMatch(/^The token \S+ was rotated before, to \S+\.\n$/);
});

test('token prune deletes expired tokens and prints their number', async () => {
  // Tokens of other tests.
  await cli.json('token', 'prune');
  const made = record(await cli.json('token', 'create', '--user', 'hal', '--expires-in', '1'));
  await sleep(Date.parse(String(made['expiresAt'])) - Date.now() + 1);
  expect(await cli.json('token', 'prune')).toEqual({ deleted: 1 });
  expect(await cli.text('token', 'prune')).toBe('0 tokens deleted.\n');
  expect(await cli.json('token', 'list', '--user', 'hal')).toEqual([]);
});

test('token prune says how many it deleted if it fails for an account', async () => {
  const made = record(await cli.json('token', 'create', '--user', 'ivy', '--expires-in', '1'));
  const accounts = service.app.database.connection.collection<{ _id: string }>('accounts');
  await accounts.updateOne({ _id: 'ivy' }, { $set: { deletingSince: new Date() } });
  await sleep(Date.parse(String(made['expiresAt'])) - Date.now() + 1);
  const { code, stderr } = await cli.run('token', 'prune');
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^\d+ tokens? deleted, but not those of every account: There is no such account/,
  );
  await accounts.updateOne({ _id: 'ivy' }, { $unset: { deletingSince: 1 } });
});

test('user list and show print accounts, and user set changes them', async () => {
  const made = record(await cli.json('token', 'create', '--user', 'dora', '--tier', 'free'));
  const dora = userOf(service.url, 'dora', String(made['token']));
  await dora.plant();
  const changed = {
    user: 'dora',
    tier: 'pro',
    timezone: 'Europe/Paris',
    language: 'en',
    remindAt: '07:00',
    usage: { plants: 1, photos: 0, events: 0, chores: 0 },
  };
  const options = ['--tier', 'pro', '--timezone', 'Europe/Paris'];
  expect(await cli.json('user', 'set', 'dora', ...options)).toEqual(changed);
  expect(await cli.json('user', 'show', 'dora')).toEqual({ ...changed, tokens: 1 });
  expect(await cli.json('user', 'list')).toContainEqual(changed);
  expect(await cli.text('user', 'show', 'dora')).toBe(
    'User      dora\nTier      pro\nTimezone  Europe/Paris\nLanguage  en\nReminder  07:00\nUsage     events 0, photos 0, plants 1, chores 0\nTokens    1\n',
  );
  expect(await cli.text('user', 'list')).toMatch(
    /^dora +pro +Europe\/Paris +events 0, photos 0, plants 1, chores 0$/m,
  );
  expect(await cli.text('user', 'set', 'dora', '--tier', 'free')).toMatch(/^Tier +free$/m);
});

test.each([
  ['There is no user nobody.', ['user', 'show', 'nobody']],
  ['There is no user nobody.', ['user', 'set', 'nobody', '--tier', 'pro']],
  ['There is no user nobody.', ['token', 'list', '--user', 'nobody']],
  ['There is no user nobody.', ['session', 'list', '--user', 'nobody']],
  ['There is no user nobody.', ['session', 'end', '--user', 'nobody']],
  [`There is no token ${UNKNOWN_ID}.`, ['token', 'revoke', UNKNOWN_ID]],
  [`There is no token ${UNKNOWN_ID}.`, ['token', 'rotate', UNKNOWN_ID]],
])('%s', async (message, args) => {
  for (const how of [[], ['--json']]) {
    const ended = await cli.run(...args, ...how);
    expect(ended).toEqual({ code: 1, stdout: '', stderr: `${message}\n` });
  }
});

test('every bad environment variable is named', async () => {
  const env = { PORT: 'x', TIER_FREE_PLANTS: '-1' };
  const { code, stdout, stderr } = await run(['user', 'list'], env);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^PORT must be .*\nTIER_FREE_PLANTS must be .*\n$/);
});

test('a MongoDB that does not respond is reported in one sentence', async () => {
  const env = { MONGODB_URI: 'mongodb://127.0.0.1:1/x', REDIS_URL: process.env['TEST_REDIS_URL'] };
  const { code, stdout, stderr } = await run(['user', 'list'], env);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/MongoDB|MONGODB_URI/);
  expect(stderr).not.toContain('    at ');
});
