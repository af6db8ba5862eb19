import type { TestService } from '../support/service';
import { startService } from '../support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService({ env: { TRUST_PROXY: '1' } });
});
afterAll(() => service.close());

/** How many of the requests of an address get 429, sent in concurrent batches. */
async function refusedOf(count: number, path: string, address: string): Promise<number> {
  let refused = 0;
  for (let sent = 0; sent < count; sent += 100) {
    const asked = Array.from({ length: Math.min(100, count - sent) }, async () => {
      const headers = { 'x-forwarded-for': address };
      const { status } = await fetch(`${service.url}${path}`, { method: 'HEAD', headers });
      if (status === 429) refused += 1;
    });
    await Promise.all(asked);
  }
  return refused;
}

test.each(['/api/mcp', '/openapi.json'])(
  'an address gets 1,200 responses of %s in a minute, and other addresses have their own budget',
  async (path) => {
    const address = `192.0.2.${path.length}`;
    const started = Date.now();
    const refused = await refusedOf(1300, path, address);
    // On a slow machine, another minute may have begun meanwhile.
    if (Date.now() - started < 60_000) expect(refused).toBe(100);
    expect(await refusedOf(1, path, '198.51.100.1')).toBe(0);
    expect(await refusedOf(1, '/healthz', address)).toBe(0);
  },
);
