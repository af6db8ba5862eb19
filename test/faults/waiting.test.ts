import { Client, type Reply } from '../support/client';
import { type ProxiedService, startProxiedService } from '../support/proxied-service';

/** What a write may take, a little around it, and something for a slow machine. */
const LIMIT_MS = 16_000;

let proxied: ProxiedService;

beforeAll(async () => {
  proxied = await startProxiedService();
});
afterAll(() => proxied.close());

test('while MongoDB stays away, writes that wait for others are answered as soon as those', async () => {
  const { service, proxy } = proxied;
  const user = await service.user();
  const { id } = await user.plant();
  const client = new Client(service.url, user.token);
  const send = () =>
    client.send('POST', `/api/plants/${id}/events`, { body: {}, within: LIMIT_MS });
  const sent = Array.from({ length: 100 }, send);
  // The first answer is there, so the writes behind it are waiting.
  await Promise.race(sent);
  proxy.fail('cut');
  const answers = await Promise.allSettled(sent);
  const exitOf = (answer: PromiseSettledResult<Reply>) =>
    answer.status === 'fulfilled' ? answer.value.status : String(answer.reason);
  const outcomes = new Set(answers.map(exitOf));
  outcomes.delete(201);
  expect([...outcomes]).toEqual([503]);
}, 60_000);
