import { several } from '../support/several';
import type { TestService } from '../support/service';
import { startService } from '../support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService({ env: { TRUST_PROXY: '1' } });
});
afterAll(() => service.close());

/** How many of some requests of an address get 429, sent to the paths in turn, in concurrent batches. */
async function refusedOf(count: number, paths: string[], address: string): Promise<number> {
  const headers = { 'x-forwarded-for': address };
  let refused = 0;
  for (let sent = 0; sent < count; sent += 100) {
    await several(Math.min(100, count - sent), async (index) => {
      const path = paths[index % paths.length] ?? '';
      const { status } = await fetch(`${service.url}${path}`, { method: 'HEAD', headers });
      if (status === 429) refused += 1;
    });
  }
  return refused;
}

test('an address gets 1,200 public documents in a minute, and other addresses have their own budget', async () => {
  const documents = ['/api/mcp', '/openapi.json', '/docs'];
  const started = Date.now();
  const refused = await refusedOf(1220, documents, '192.0.2.1');
  // On a slow machine, another minute may have begun meanwhile.
  if (Date.now() - started < 60_000) expect(refused).toBe(20);
  expect(await refusedOf(3, documents, '198.51.100.1')).toBe(0);
  expect(await refusedOf(1, ['/healthz'], '192.0.2.1')).toBe(0);
});
