import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';

import { Client, record, records } from '../support/client';
import { Copy } from '../support/copy';
import type { TestService, TestUser } from '../support/service';
import { CommandLine, start } from './run';
import { accountsPlugin, differencesOf, startService } from '../support/program';

let service: TestService;
let cli: CommandLine;
let folder: string;
let user: TestUser;

beforeAll(async () => {
  service = await startService({});
  cli = new CommandLine(service.mongodbUri);
  folder = await mkdtemp(path.join(tmpdir(), 'import-'));
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

async function fileOf(content: string | Buffer | object): Promise<string> {
  const file = path.join(folder, 'garden');
  const isFile = typeof content === 'string' || Buffer.isBuffer(content);
  await writeFile(file, isFile ? content : JSON.stringify(content));
  return file;
}

const plantsOf = async () => records((await user.get('/api/plants').expect(200)).body);
const command = async (content: string | object, ...options: string[]) => [
  'import',
  await fileOf(content),
  '--user',
  user.id,
  ...options,
];

/** A garden larger than a request may be. */
function largeGarden(plants: number, events: number): { plants: object[] } {
  const occurredAt = (place: number) => new Date(Date.UTC(2026, 0, 1) - place * 3600_000);
  const own = Array.from({ length: events }, (_, place) => ({
    type: place % 3 === 0 ? 'fertilized' : 'watered',
    occurredAt: occurredAt(place),
  }));
  return {
    plants: Array.from({ length: plants }, (_, at) => ({ name: `Fern ${at}`, events: own })),
  };
}

test('a garden of any size is imported, with derived data and changes', async () => {
  await user.plant();
  const before = new Copy();
  const client = new Client(service.url, user.token);
  await before.sync(client);
  expect(await cli.json(...(await command(largeGarden(600, 20))))).toEqual({
    user: user.id,
    dryRun: false,
    plants: 600,
    events: 12_000,
  });
  expect(await plantsOf()).toHaveLength(601);
  expect(await differencesOf(service.app, user.id)).toEqual([]);
  const anew = new Copy();
  await anew.sync(client);
  expect(anew.contents.events).toHaveLength(12_000);
  // The events were written earlier, so a copy that is past those writes starts again.
  await expect(before.sync(client)).rejects.toThrow('cursor_expired');
  client.close();
});

test('parts of an export are imported once, also if the tier has no more room', async () => {
  const from = await service.user();
  const photo = await from.photo();
  const fern = await from.plant({ primaryPhotoId: photo.id });
  await from.event(fern.id, { photoIds: [photo.id] });
  const exported = record((await from.get('/api/export').expect(200)).body);
  user = await service.user({ tier: 'free' });
  for (let more = 24; more > 0; more -= 1) await user.plant();
  const added = { user: user.id, dryRun: false, plants: 1, events: 1 };
  expect(await cli.json(...(await command(exported, '--dry-run')))).toEqual({
    ...added,
    dryRun: true,
  });
  expect(await cli.json(...(await command(exported)))).toEqual(added);
  expect(await cli.json(...(await command(exported)))).toEqual({ ...added, plants: 0, events: 0 });
  expect(await plantsOf()).toHaveLength(25);
});

test('a large import that fails at its end leaves nothing, and no event that counts', async () => {
  const { plants } = largeGarden(2, 5100);
  const unknown = { type: 'note', photoIds: ['00000000-0000-4000-8000-000000000000'] };
  const faulty = { plants: [...plants, { name: 'Ivy', events: [unknown] }] };
  const { code, stderr } = await cli.run(...(await command(faulty)));
  expect([code, stderr]).toEqual([1, expect.stringContaining('photo')]);
  const used = async () =>
    record(record((await user.get('/api/account')).body)['limits'])['events'];
  expect(await used()).toMatchObject({ used: 0 });
  expect(await plantsOf()).toEqual([]);
  await cli.json(...(await command({ plants })));
  expect(await used()).toMatchObject({ used: 10_200 });
  expect(await differencesOf(service.app, user.id)).toEqual([]);
});

test('import shows its progress in a terminal', async () => {
  const { code, stdout } = await cli.runInTerminal(...(await command(largeGarden(1, 10_100))));
  expect(code).toBe(0);
  expect(stdout).toMatch(/Events [=-]+ \d+ %/);
  expect(stdout).toMatch(/1 plant, 10,100 events, 0 photos imported\.\r\n$/);
});

test('CSV is recognized by its content', async () => {
  await cli.json(...(await command('\ufeffname;location\r\nFern;Bad\r\n')));
  expect(await plantsOf()).toMatchObject([{ name: 'Fern', location: 'Bad' }]);
});

test('CSV is read as spreadsheets write it', async () => {
  const text = '\ufeffname;toxic;lastWatered\r\nEfeu;yes;2026-01-05\r\n;;\r\n';
  const done = await cli.json(...(await command(Buffer.from(text, 'utf16le'))));
  expect(done).toMatchObject({ plants: 1, events: 1 });
  expect(await plantsOf()).toMatchObject([{ name: 'Efeu', toxic: true }]);
  const { stderr } = await cli.run(...(await command(Buffer.from('name\nÖl\n', 'latin1'))));
  expect(stderr).toMatch(/cannot be read: it is .*Windows-1252/);
});

test('a dry run adds nothing', async () => {
  const text = await cli.text(...(await command({ plants: [{ name: 'Fern' }] }, '--dry-run')));
  expect(text).toBe('1 plant, 0 events, 0 photos can be imported.\n');
  expect(await plantsOf()).toEqual([]);
});

test.each([
  [
    'name,toxic\nFern,maybe\n,no\n',
    /Line 2: toxic must be true or false, .*\.\nLine 3: name is required\./,
  ],
  [{ plants: [{}] }, /plants\[0\]\.name is required\./],
  [{ plants: [], more: 1 }, /more is not allowed\./],
  [{}, /plants or csv is required\./],
  ['{"plants":', /cannot be read: it is not valid JSON\./],
  [largeGarden(1001, 0), /plants: 1001 needed, but .* room for 1000\./],
])('faults are reported, and nothing is added: %#', async (content, message) => {
  const { code, stderr } = await cli.run(...(await command(content)));
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
  expect(await plantsOf()).toEqual([]);
});

test('the file and the user must exist', async () => {
  const missing = await cli.run('import', path.join(folder, 'none'), '--user', user.id);
  expect(missing).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('none cannot be read') as string,
  });
  const file = await fileOf({ plants: [] });
  const nobody = await cli.run('import', file, '--user', 'nobody');
  expect(record(nobody)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no user nobody.') as string,
  });
});

test('what an import leaves that is killed in the middle is found and removed by reconcile', async () => {
  await user.plant();
  const accounts = service.app.exportsOf(accountsPlugin);
  const used = async () => (await accounts.account(user.id))?.usage['events'] ?? 0;
  const events = Array.from({ length: 60_000 }, (_, at) => ({
    occurredAt: new Date(Date.UTC(2020, 0, 1) + at * 60_000).toISOString(),
  }));
  const args = await command({ plants: [{ name: 'Fern', events }] });
  const env = { MONGODB_URI: service.mongodbUri, REDIS_URL: process.env['TEST_REDIS_URL'] };
  const running = start(args, env);
  for (let count = 0; count === 0; count = await used()) await setImmediate();
  running.process.kill('SIGKILL');
  await running.ended;
  const left = await used();
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(events.length);
  const found = record(await cli.run('reconcile', '--check', '--json'));
  expect(found).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('plants of events') as string,
  });
  expect(await used()).toBe(left);
  for (let rest = left; rest > 0; rest = await used()) {
    await cli.run('reconcile', '--repair');
    expect(await used()).toBeLessThan(rest);
  }
  expect(await differencesOf(service.app, user.id)).toEqual([]);
  expect(await plantsOf()).toHaveLength(1);
});
