import type { Context } from 'koa';

import type { TestService } from '../support/service';
import { PublicPace, startService } from '../support/program';

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

test('an address that asks for many documents at once gets some, and is told when it may have more', async () => {
  const address = '192.0.2.1';
  expect(await statusOf(BUNDLE, address)).toBe(200);
  const asked = Array.from({ length: 60 }, () => statusOf(BUNDLE, address));
  const others = Promise.all([statusOf('/docs', '192.0.2.2'), statusOf('/healthz', address)]);
  expect(await others).toEqual([200, 200]);
  const statuses = await Promise.all(asked);
  const served = statuses.filter((status) => status === 200).length;
  // 16 MB ahead and 4 MB for each second, of which a machine may take some; a file has 1.7.
  expect(served).toBeGreaterThanOrEqual(8);
  expect(served).toBeLessThan(40);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
});

/** A request as the pace sees it. */
function requestFrom(ip: string, isProbe: boolean): Context {
  const facts = { isProbe, sent: new Promise(() => undefined) };
  // It looks at nothing else.
  return { ip, method: 'GET', state: { facts } } as unknown as Context;
}

test.each([
  ['none was made before', []],
  ['the last one was', [1_500_000, 1000]],
])('documents are not taken for short because %s', async (_, before) => {
  const pace = new PublicPace();
  let served = 0;
  const ask = async (length: number): Promise<void> => {
    const ctx = requestFrom('192.0.2.4', false);
    await pace.run('a kind', ctx, async () => {
      Object.assign(ctx, { body: {}, length });
      served += 1;
    });
  };
  for (const length of before) await ask(length);
  await Promise.allSettled(Array.from({ length: 200 }, () => ask(1_500_000)));
  // 16 MB ahead, and 4 MB for each second.
  expect(served).toBeGreaterThanOrEqual(10);
  expect(served).toBeLessThan(40);
});

test.each([
  ['probes', true, 200],
  ['short answers', false, 2000],
] as const)('of many %s at once of one address the last ones wait', async (_, isProbe, count) => {
  const pace = new PublicPace();
  const started = performance.now();
  const begin = async (ip: string): Promise<number> => {
    const answer = async (): Promise<void> => undefined;
    await pace.run('a kind', requestFrom(ip, isProbe), answer).catch(() => undefined);
    return performance.now() - started;
  };
  const waits = await Promise.all(Array.from({ length: count }, () => begin('192.0.2.3')));
  expect(Math.max(...waits)).toBeGreaterThan(240);
});
