import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';

import { parseSync, printSync, type Statement } from '@swc/core';

import { openClient } from '../../../examples/offline-client/client';
import { fileStore } from '../../../examples/offline-client/store';
import { startService } from '../../support/program';
import type { TestService, TestUser } from '../../support/service';

const EXAMPLE = path.resolve(__dirname, '../../../examples/offline-client');
/** At how many lines the app is killed. */
const KILLS = 24;

/** Synchronizes, and ends at a line. A worker that exits runs nothing more, as a process that is killed. */
const APP = `
const { parentPort, workerData } = require('node:worker_threads');
let lines = 0;
globalThis.line = () => {
  lines += 1;
  if (lines === workerData.killAt) process.exit();
};
const { openClient } = require('./client');
const { fileStore } = require('./store');
const { url, state, tokens } = workerData;
openClient({ url, store: fileStore(state), keychain: fileStore(tokens) })
  .sync()
  .then(() => parentPort.postMessage(lines));
`;

let service: TestService;
let user: TestUser;
let folder: string;
beforeAll(async () => {
  service = await startService();
  folder = mkdtempSync(path.join(tmpdir(), 'offline-client-'));
  for (const file of ['api.js', 'client.js', 'store.js']) {
    const code = readFileSync(path.join(EXAMPLE, file), 'utf8');
    writeFileSync(path.join(folder, file), countingLines(code));
  }
  writeFileSync(path.join(folder, 'app.js'), APP);
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.close();
});

/** The same program, which calls `line` before each of its statements. */
function countingLines(code: string): string {
  const call = parseSync('globalThis.line?.();').body[0] as Statement;
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const child of Object.values(node)) visit(child);
    if (!('type' in node) || node.type !== 'BlockStatement' || !('stmts' in node)) return;
    node.stmts = (node.stmts as Statement[]).flatMap((statement) => [call, statement]);
  };
  const program = parseSync(code);
  visit(program);
  return printSync(program).code;
}

/** Runs the app until it is done or killed; returns the number of its lines if it is done. */
async function app(killAt = 0): Promise<number | undefined> {
  const files = {
    state: path.join(folder, 'state.json'),
    tokens: path.join(folder, 'tokens.json'),
  };
  const workerData = { url: service.url, killAt, ...files };
  const worker = new Worker(path.join(folder, 'app.js'), { workerData });
  let lines: number | undefined;
  worker.on('message', (count: number) => (lines = count));
  await new Promise((resolve, reject) => worker.once('error', reject).once('exit', resolve));
  return lines;
}

test('an app that is killed between any two lines loses nothing, and doubles nothing', async () => {
  const keychain = fileStore(path.join(folder, 'tokens.json'));
  keychain.save(JSON.stringify({ access_token: user.token }));
  const store = fileStore(path.join(folder, 'state.json'));
  const queueRound = (round: number): void => {
    const client = openClient({ url: service.url, store, keychain });
    const plant = client.enqueue('POST', '/api/plants', { name: `Plant ${round}` });
    client.enqueue('POST', `/api/plants/${plant}/events`, { text: `Event ${round}` });
    const [known] = Object.values(client.state.copy.plants);
    if (known) client.edit('plants', known.id, { notes: `Notes ${round}` });
    if (known) client.edit('plants', known.id, { location: `Place ${round}` });
    client.enqueue('POST', '/api/plants', { name: '' });
  };
  queueRound(0);
  await app();
  queueRound(1);
  const lines = (await app()) ?? 0;
  expect(lines).toBeGreaterThan(50);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const round = 2 + kill;
    queueRound(round);
    await app(1 + Math.floor((kill * lines) / KILLS));
    expect(await app()).toBeGreaterThan(0);
  }
  const { queue, problems, copy } = openClient({ url: service.url, store, keychain }).state;
  expect(queue).toEqual([]);
  // Those without a name.
  expect(problems.map(({ code }) => code)).toEqual(Array(KILLS + 2).fill('validation_error'));
  const rounds = Array.from({ length: KILLS + 2 }, (_, round) => round);
  const plants = Object.values(
    (await user.get('/api/plants')).body as { name: string; notes: string }[],
  );
  expect(plants.map(({ name }) => name)).toEqual(rounds.map((round) => `Plant ${round}`));
  expect(plants.find(({ notes }) => notes)).toMatchObject({
    notes: `Notes ${KILLS + 1}`,
    location: `Place ${KILLS + 1}`,
  });
  const texts = Object.values(copy.events).map(({ text }) => text);
  expect(texts.sort()).toEqual(rounds.map((round) => `Event ${round}`).sort());
});
