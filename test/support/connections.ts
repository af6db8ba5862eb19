import type { Server } from 'node:net';

import { until } from './processes';

/** Waits until a server has no connection left. */
export async function expectNoneLeft(server: Server): Promise<void> {
  const count = () =>
    new Promise<number>((resolve) => {
      server.getConnections((_, open) => {
        resolve(open);
      });
    });
  await until(async () => (await count()) === 0);
}
