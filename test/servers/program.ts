import { once } from 'node:events';
import { acquireServers, type ServersConfig } from '../../src/servers';

// Holds servers in a process of its own, until it is told to leave or is killed.
async function main(): Promise<void> {
  // From support.ts, which starts it.
  const { config, role } = JSON.parse(process.argv[2] ?? '') as {
    config: ServersConfig;
    role: 'server' | 'tool';
  };
  const progress = (line: string): void => {
    console.error(line);
  };
  const { release, ...servers } = await acquireServers(config, { role, progress });
  process.send?.(servers);
  const [order] = (await once(process, 'message')) as unknown[];
  if (order === 'exit') process.exit();
  await release();
  process.disconnect();
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
