import { existsSync } from 'node:fs';
import path from 'node:path';

import {
  dataDirectory,
  RealServer,
  removeDataDirectory,
  runningServers,
} from '../support/real-server';
import { record } from '../support/client';
import { eventually } from '../support/processes';
import { userOf } from '../support/service';
import { type Ended, start } from './run';

let dataDir: string;

beforeEach(async () => {
  dataDir = await dataDirectory();
});

afterEach(async () => {
  await removeDataDirectory(dataDir);
});

function run(...args: string[]): Promise<Ended> {
  return start(args, { DATA_DIR: dataDir }).ended;
}

test('commands work before, beside and after a server on the same data directory', async () => {
  const before = await run('token', 'create', '--user', 'ada', '--json');
  expect(before.code).toBe(0);
  expect(before.stdout).toMatch(/^\{[^\n]+\}\n$/);
  expect(await runningServers(dataDir)).toEqual([]);

  const server = await RealServer.start(dataDir);
  const { id, token } = record(JSON.parse(before.stdout));
  const ada = userOf(server.url, 'ada', String(token));
  await ada.plant();
  const beside = await run('token', 'revoke', String(id));
  expect(beside).toMatchObject({ code: 0, stderr: '' });
  await ada.get('/api/plants').expect(401);
  expect(await runningServers(dataDir)).toContain('mongod');
  await server.stop();

  const after = await run('user', 'show', 'ada', '--json');
  expect(JSON.parse(after.stdout)).toMatchObject({ usage: { plants: 1 }, tokens: 1 });
  expect(await runningServers(dataDir)).toEqual([]);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends a command and its servers', async (signal) => {
  const garden = ['--tier', 'pro', '--plants', '25', '--events', '2000000'];
  const demo = start(['demo', '--user', 'ada', ...garden], { DATA_DIR: dataDir });
  const isUnderWay = async () => (await runningServers(dataDir)).includes('mongod');
  while (!(await isUnderWay())) await new Promise((resolve) => setTimeout(resolve, 100));
  await new Promise((resolve) => setTimeout(resolve, 3000));
  // Twice, as when npm passes on what the terminal has sent to all.
  demo.process.kill(signal);
  demo.process.kill(signal);
  expect(await demo.ended).toEqual({ code: 1, stdout: '', stderr: 'Interrupted.\n' });
  // One that was being started is not waited for.
  await eventually(async () => (await runningServers(dataDir)).length === 0);
  expect(existsSync(path.join(dataDir, 'mongodb'))).toBe(true);

  const shown = await run('user', 'list', '--json');
  const [account] = JSON.parse(shown.stdout) as { usage: { plants?: number } }[];
  expect(account?.usage.plants ?? 0).toBe(0);
  expect((await run('reconcile', '--check')).code).toBe(0);
});
