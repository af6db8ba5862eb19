import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { Target } from '../support/promql/collector';
import type { ProxiedService } from '../support/proxied-service';
import type { TestService, TestUser } from '../support/service';
import { CAN_MOUNT, mountTmpfs } from '../support/tmpfs';
import {
  builtRelease,
  freshDatabase,
  startProxiedService,
  RealServer,
  removeDataDirectory,
  startService,
  tlsSettings,
} from '../support/program';

/** A server in a process of its own, which speaks HTTPS. */
export interface WatchedServer extends Target {
  real: RealServer;
}

/** What alerts are tried on. */
export interface WatchedServices {
  service: TestService;
  /** With an own MongoDB and Redis. */
  server: WatchedServer;
  /** Of another release, with a certificate of ten days and, where one can be mounted, a small disk. */
  other: WatchedServer;
  proxied: ProxiedService;
  /** A user of the service behind the proxy. */
  user: TestUser;
  close(): Promise<void>;
}

/** Starts them; whoever does closes them. */
export async function startWatchedServices(): Promise<WatchedServices> {
  const cleanups: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const clean of cleanups.toReversed()) await clean();
  };
  try {
    const service = await startService();
    cleanups.push(() => service.close());
    const proxied = await startProxiedService({ jobs: false });
    cleanups.push(() => proxied.close());
    // Not beside those, which connect from this process: making a build keeps it busy for seconds.
    const [server, other] = await Promise.all([
      startServer(cleanups, await folder(cleanups), 90),
      startOtherRelease(cleanups),
    ]);
    const user = await proxied.service.user();
    return { service, server, other, proxied, user, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function folder(cleanups: (() => unknown)[]): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'alerts-test-'));
  cleanups.push(() => rm(made, { recursive: true }));
  return made;
}

async function startOtherRelease(cleanups: (() => unknown)[]): Promise<WatchedServer> {
  const build = builtRelease('1.0.1-other');
  cleanups.push(() => rm(build, { recursive: true }));
  const home = await folder(cleanups);
  if (CAN_MOUNT) cleanups.push(mountTmpfs(home, 'size=64m'));
  const { TEST_REDIS_URL: REDIS_URL } = process.env;
  const env = { MONGODB_URI: freshDatabase(), REDIS_URL, LOG_LEVEL: 'info' };
  return startServer(cleanups, home, 10, env, build);
}

async function startServer(
  cleanups: (() => unknown)[],
  home: string,
  certificateDays: number,
  env: NodeJS.ProcessEnv = {},
  build?: string,
): Promise<WatchedServer> {
  const dataDir = path.join(home, 'data');
  await mkdir(dataDir);
  const tls = tlsSettings(certificateDays);
  const real = await RealServer.start(dataDir, { ...tls.env, ...env }, undefined, build);
  cleanups.push(async () => {
    await real.stop();
    await removeDataDirectory(dataDir);
    tls.remove();
  });
  return { real, url: real.url, ca: tls.ca };
}
