import { Client, type Reply } from '../support/client';
import { type CuttableWay, cuttableWay } from '../support/cuttable';
import { freshDatabase, startService, type TestService } from '../support/service';

/** What a write may take, a little around it, and something for a slow machine. */
const LIMIT_MS = 16_000;

let way: CuttableWay;
let service: TestService;

beforeAll(async () => {
  const uri = new URL(freshDatabase());
  way = await cuttableWay(decodeURIComponent(uri.hostname));
  uri.host = `127.0.0.1:${way.port}`;
  service = await startService({ mongodbUri: uri.toString(), redisUrl: null });
});
afterAll(async () => {
  way.restore();
  await service.close();
  await way.close();
});

test('while MongoDB stays away, writes that wait for others are answered as soon as those', async () => {
  const user = await service.user();
  const { id } = await user.plant();
  const client = new Client(service.url, user.token);
  const send = () =>
    client.send('POST', `/api/plants/${id}/events`, { body: {}, within: LIMIT_MS });
  const sent = Array.from({ length: 100 }, send);
  // The first answer is there, so the writes behind it are waiting.
  await Promise.race(sent);
  way.cut();
  const answers = await Promise.allSettled(sent);
  const exitOf = (answer: PromiseSettledResult<Reply>) =>
    answer.status === 'fulfilled' ? answer.value.status : String(answer.reason);
  const outcomes = new Set(answers.map(exitOf));
  outcomes.delete(201);
  expect([...outcomes]).toEqual([503]);
}, 60_000);
