import { Client, records, type Reply } from '../support/client';
import { until } from '../support/processes';
import type { NetworkFault } from '../support/tcp-proxy';
import { startProxiedService } from '../support/program';

const OUTAGES: { name: string; fault: NetworkFault; onlyOpen: boolean }[] = [
  ...(['delay', 'black hole', 'requests lost', 'answers lost', 'garbage'] as const).map(
    (fault) => ({ name: fault, fault, onlyOpen: false }),
  ),
  // As behind a restarted firewall, which passes only new connections.
  { name: 'black hole of the open connections', fault: 'black hole', onlyOpen: true },
];

const KEY = { 'idempotency-key': 'k' };

test.concurrent.each(OUTAGES)(
  'with $name, requests succeed or get 503 in time, and succeed afterwards',
  async ({ fault, onlyOpen }) => {
    const proxied = await startProxiedService();
    const { service, proxy } = proxied;
    const { token } = await service.user();
    const client = new Client(service.url, token);
    try {
      const add = () =>
        client.send('POST', '/api/plants', {
          body: { name: 'Fern' },
          headers: KEY,
        });
      const list = () => client.send('GET', '/api/plants');
      await list();
      proxy.fail(fault, { onlyOpen });
      const [added, listed, live] = await Promise.all([
        add(),
        list(),
        client.send('GET', '/healthz'),
      ]);
      expectRightOr503(added, 201);
      expectRightOr503(listed, 200);
      expect(live.status).toBe(200);

      if (!onlyOpen) proxy.restore();
      let again: Reply | undefined;
      await until(async () => (again = await add()).status !== 503);
      expect(again?.status).toBe(201);
      expect(records((await list()).body)).toMatchObject([{ name: 'Fern' }]);
    } finally {
      client.close();
      await proxied.close();
    }
  },
);

function expectRightOr503({ status, headers }: Reply, right: number): void {
  expect([right, 503]).toContain(status);
  if (status === 503) expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
}
