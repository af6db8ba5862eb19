import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { record, records } from '../support/client';
import type { TestService } from '../support/service';
import { CommandLine } from './run';
import { startService, userOf } from '../support/program';

let service: TestService;
let cli: CommandLine;
let folder: string;

beforeAll(async () => {
  service = await startService({});
  cli = new CommandLine(service.mongodbUri);
  folder = await mkdtemp(path.join(tmpdir(), 'users-'));
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

async function file(content: string | Buffer): Promise<string> {
  const name = path.join(folder, 'users.csv');
  await writeFile(name, content);
  return name;
}

test('token create --backend creates a token for managing accounts, and no account', async () => {
  const made = record(await cli.json('token', 'create', '--backend', 'shop'));
  expect(made).toMatchObject({ user: '~shop', scopes: ['accounts:manage'] });
  const shop = userOf(service.url, '~shop', String(made['token']));
  await shop.put('/api/accounts/ada').expect(201);
  await shop.get('/api/account').expect(403);
  expect(records(await cli.json('user', 'list')).map(({ user }) => user)).toEqual(['ada']);
  expect(await cli.json('token', 'list', '--user', '~shop')).toHaveLength(1);
  const log = records(await cli.json('audit', 'log', '--user', 'ada'));
  expect(log).toMatchObject([{ action: 'account.created', actor: { account: '~shop' } }]);
  await cli.json('token', 'revoke', '--user', '~shop');
  await shop.get('/api/accounts').expect(401);
});

test.each([
  [['--user', '~shop'], /must not begin with ~/],
  [['--backend', 'a b'], /1 to 64/],
  [['--backend', '~shop'], /1 to 64/],
  [['--user', 'ada', '--scopes', 'accounts:manage'], /no scope "accounts:manage"/],
  [['--backend', 'shop', '--scopes', 'plants:read'], /cannot be used with/],
  [['--backend', 'shop', '--user', 'ada'], /cannot be used with/],
  [['--from', 'users.csv', '--user', 'ada'], /cannot be used with/],
  [['--from', 'users.csv', '--tier', 'pro'], /cannot be used with/],
  [[], /--user USER, --from FILE or --backend NAME/],
])('token create %j is a usage error', async (args, said) => {
  const { code, stdout, stderr } = await cli.run('token', 'create', ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(said);
});

test('token create --from creates an account and a token for each line', async () => {
  const content =
    '\uFEFFname,tier\r\numa,pro\r\n"vic ""the, green"" w",free\r\nwes\r\nxia,\r\n\r\n';
  const from = await file(content);
  const made = records(await cli.json('token', 'create', '--from', from, '--name', 'many'));
  expect(made).toMatchObject([
    { user: 'uma', tier: 'pro' },
    { user: 'vic "the, green" w', tier: 'free' },
    { user: 'wes', tier: 'free' },
    { user: 'xia', tier: 'free' },
  ]);
  for (const { user, token } of made) {
    await userOf(service.url, String(user), String(token)).get('/api/plants').expect(200);
  }
  const text = await cli.text('token', 'create', '--from', from);
  const lines = text.trimEnd().split('\n');
  expect(lines).toHaveLength(5);
  expect(lines[0]).toBe('name,tier,token');
  expect(lines[2]).toMatch(/^"vic ""the, green"" w",free,tnd_mcp_\w+$/);
});

test('token create --from prints names that a spreadsheet would run as formulas with a quote in front', async () => {
  const from = await file('=HYPERLINK(0)\n@zed\n"+1,2"\nplain-1\n');
  const [, ...lines] = (await cli.text('token', 'create', '--from', from)).trimEnd().split('\n');
  const names = lines.map((line) => line.replace(/,free,tnd_mcp_\w+$/, ''));
  expect(names).toEqual(["'=HYPERLINK(0)", "'@zed", `"'+1,2"`, 'plain-1']);
});

test('token create --from keeps the order of many, and gives each one token', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `many-${index}`);
  const made = records(await cli.json('token', 'create', '--from', await file(names.join('\n'))));
  expect(made.map(({ user }) => user)).toEqual(names);
  expect(new Set(made.map(({ token }) => token)).size).toBe(names.length);
});

test('token create --from reports each invalid line, and creates nothing', async () => {
  const content = [
    'yan,pro',
    'zoe,gold',
    'yan,free',
    ',pro',
    ' zed,pro',
    '"zed,pro',
    'zed,pro,more',
    'zed;pro',
    '~shop,pro',
    `${'z'.repeat(129)},pro`,
    'z\u200Bed,pro',
  ].join('\n');
  const { code, stdout, stderr } = await cli.run('token', 'create', '--from', await file(content));
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const lines = stderr.trimEnd().split('\n').slice(1);
  expect(lines.map((line) => line.split(':')[0])).toEqual(
    Array.from({ length: 10 }, (_, index) => `Line ${index + 2}`),
  );
  expect(stderr).toMatch(/Line 2: the tier must be free or pro\./);
  expect(stderr).toMatch(/Line 3: the name is already on line 1\./);
  expect(stderr).toMatch(/Line 8: it must be a name, a comma and a tier\./);
  const users = records(await cli.json('user', 'list')).map(({ user }) => user);
  expect(users).not.toContain('yan');
});

test.each([
  ['nothing', '\n\n', /no users/],
  ['other text', Buffer.from([0x79, 0xe9, 0x2c]), /UTF-8/],
])('token create --from a file of %s is refused', async (_what, content, said) => {
  const { code, stderr } = await cli.run('token', 'create', '--from', await file(content));
  expect(code).toBe(1);
  expect(stderr).toMatch(said);
});

test('token create --from a missing file reports it', async () => {
  const { code, stderr } = await cli.run(
    'token',
    'create',
    '--from',
    path.join(folder, 'none.csv'),
  );
  expect(code).toBe(1);
  expect(stderr).toMatch(/cannot be read/);
});
