import { startService, type TestService } from '../support/service';

let service: TestService;

beforeAll(async () => {
  service = await startService({ env: { TRUST_PROXY: '1' } });
});
afterAll(() => service.close());

async function statusOf(path: string, address: string): Promise<number> {
  const headers = { 'x-forwarded-for': address, 'accept-encoding': 'identity' };
  const answer = await fetch(`${service.url}${path}`, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

const BUNDLE = '/docs/swagger-ui-bundle.js';

test('an address that takes many documents waits for the next ones, but not for probes; others do not', async () => {
  const address = '192.0.2.1';
  const started = performance.now();
  // More than 16 MB, and then a second at 4 MB.
  for (let count = 0; count < 16; count += 1) expect(await statusOf(BUNDLE, address)).toBe(200);
  expect(performance.now() - started).toBeGreaterThan(1000);
  let isAnswered = false;
  const waiting = statusOf('/api/nothing', address).then((status) => {
    isAnswered = true;
    return status;
  });
  expect(await statusOf('/healthz', address)).toBe(200);
  expect(await statusOf('/docs', '192.0.2.2')).toBe(200);
  expect(isAnswered).toBe(false);
  expect(await waiting).toBe(404);
});

test('probes of an address beyond a hundred a second wait, each for a moment', async () => {
  const ask = async (): Promise<number> => {
    const started = performance.now();
    expect(await statusOf('/healthz', '192.0.2.3')).toBe(200);
    return performance.now() - started;
  };
  const started = performance.now();
  for (let round = 0; round < 30; round += 1) {
    const waits = await Promise.all(Array.from({ length: 10 }, ask));
    expect(Math.max(...waits)).toBeLessThan(2000);
  }
  // A hundred ahead, and of the others ten each time.
  expect(performance.now() - started).toBeGreaterThan(500);
});
