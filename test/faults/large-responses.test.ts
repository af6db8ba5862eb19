import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from '../support/client';
import {
  giveBack,
  takeDatabase,
  LARGEST_SINCE,
  storeLargest,
  asOperatorOf,
  dataDirectory,
  makeTokens,
  RealServer,
  removeDataDirectory,
} from '../support/program';

const PLANTS = 1000;
const EVENTS = 2000;
/** Memory that the responses of this test would exceed many times if they were buffered. */
const MAX_GROWTH_MB = 200;
/** The limit of concurrent reads of an account. */
const MAX_READS = 4;

let mongodbUri: string;
let dataDir: string;
let server: RealServer;
let tokens: string[];
let plantId: string;

beforeAll(async () => {
  mongodbUri = takeDatabase();
  dataDir = await dataDirectory();
  server = await RealServer.start(dataDir, {
    MONGODB_URI: mongodbUri,
    REDIS_URL: process.env['TEST_REDIS_URL'],
    // Buffering fails with a heap that a single list of plants would fill.
    NODE_OPTIONS: '--max-old-space-size=160',
  });
  await asOperatorOf(mongodbUri, async (app) => {
    tokens = await makeTokens(app, ['ann', 'bob']);
    ({ plantId } = await storeLargest(app, 'ann', { plants: PLANTS, events: EVENTS }));
  });
});
afterAll(async () => {
  await server.stop();
  await removeDataDirectory(dataDir);
  await giveBack(mongodbUri);
});

function month(): string {
  const monthEnd = LARGEST_SINCE + EVENTS * 3_600_000;
  return `/api/plants/${plantId}/events/month?monthStart=${LARGEST_SINCE}&monthEnd=${monthEnd}`;
}

/** The head of a response whose body is not read yet. */
function open(path: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${tokens[0] ?? ''}` };
  return new Promise((resolve, reject) => {
    get(`${server.url}${path}`, { headers, agent: false }, resolve).once('error', reject);
  });
}

/** Reads a whole response; returns how often it contains a text, and its length. */
async function readAll(
  answer: IncomingMessage,
  mark: string,
): Promise<{ marks: number; bytes: number }> {
  let marks = 0;
  let bytes = 0;
  let end = Buffer.alloc(0);
  for await (const chunk of answer) {
    // Without an encoding, chunks are buffers.
    const read = chunk as Buffer;
    const searched = Buffer.concat([end, read]);
    for (let at = searched.indexOf(mark); at >= 0; at = searched.indexOf(mark, at + 1)) marks += 1;
    bytes += read.length;
    end = searched.subarray(1 - mark.length);
  }
  return { marks, bytes };
}

async function residentMegabytes(): Promise<number> {
  const response = await fetch(`${server.url}/metrics`);
  const [, bytes] = /^process_resident_memory_bytes (\d+)$/m.exec(await response.text()) ?? [];
  return Number(bytes) / 1e6;
}

test('a month of two thousand events of maximum size is streamed', async () => {
  const answer = await open(month());
  expect(answer.statusCode).toBe(200);
  const { marks, bytes } = await readAll(answer, '"type":"note"');
  expect(marks).toBe(EVENTS);
  expect(bytes).toBeGreaterThan(200e6);
});

test('large responses that are not read use no memory', async () => {
  const before = await residentMegabytes();
  const page = `/api/plants/${plantId}/events?limit=100`;
  for (const path of ['/api/plants', month(), page]) {
    const answers = await Promise.all(Array.from({ length: MAX_READS }, () => open(path)));
    for (const { statusCode } of answers) expect(statusCode).toBe(200);
    await sleep(1000);
    expect((await residentMegabytes()) - before).toBeLessThan(MAX_GROWTH_MB);
    for (const answer of answers) answer.destroy();
  }
});

test('while large lists are read, other requests are served', async () => {
  const other = new Client(server.url, tokens[1] ?? '');
  const state = { isReading: true };
  const reading = Promise.all(
    Array.from({ length: MAX_READS }, async () =>
      readAll(await open('/api/plants'), '"toxic":true'),
    ),
  ).finally(() => {
    state.isReading = false;
  });
  let answered = 0;
  while (state.isReading) {
    expect(await other.send('GET', '/api/plants')).toMatchObject({ status: 200, body: [] });
    answered += 1;
    // Without a pause, these use more CPU than the lists.
    await sleep(20);
  }
  for (const { marks } of await reading) expect(marks).toBe(PLANTS);
  expect(answered).toBeGreaterThan(10);
  other.close();
});
