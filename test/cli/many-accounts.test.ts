import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { ProxiedService } from '../support/proxied-service';
import { commandsDuring, startProxiedService } from '../support/program';
import { CommandLine } from './run';

const ACCOUNTS = 200;

let proxied: ProxiedService;
let folder: string;

beforeAll(async () => {
  proxied = await startProxiedService({ jobs: false });
  folder = await mkdtemp(path.join(tmpdir(), 'users-'));
});
afterAll(async () => {
  await proxied.close();
  await rm(folder, { recursive: true });
});

test('token create --from and audit verify send few commands for each account', async () => {
  const { proxy, service } = proxied;
  const cli = new CommandLine(service.mongodbUri);
  const from = path.join(folder, 'users.csv');
  const names = Array.from({ length: ACCOUNTS }, (_, index) => `many-${index}`);
  await writeFile(from, names.join('\n'));
  const creating = await commandsDuring(proxy, () => cli.text('token', 'create', '--from', from));
  // With those of the start.
  expect(creating.length).toBeLessThan(3 * ACCOUNTS);

  const verifying = await commandsDuring(proxy, async () => {
    const { chains, entries, faults } = await service.app.audit.verify();
    expect(chains).toBeGreaterThanOrEqual(ACCOUNTS);
    expect(entries).toBeGreaterThanOrEqual(2 * ACCOUNTS);
    expect(faults).toEqual([]);
  });
  expect(verifying.length).toBeLessThan(ACCOUNTS / 5);
});
