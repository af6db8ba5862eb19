import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from '../support/client';
import { scrape, valueOf } from '../support/metrics';
import { kill, ownProcess } from '../support/processes';
import { Collector, type Target, watch } from '../support/promql/collector';
import type { TestUser } from '../support/service';
import { several } from '../support/several';
import type { WatchedServices } from './watched-services';
import { eventually, OwnRedis, startProxiedService, startService } from '../support/program';

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

/** A job that is done every second. */
const JOB = { job_name: 'mark the events of deleted plants deleted' };

/** Collects metrics while something is wrong. */
export type Collect = (services: WatchedServices) => Promise<Collector>;

const whileCutOff = thenRestored(async ({ proxied: { service, proxy }, user }) => {
  const collector = await watch([service], 1);
  proxy.fail('cut');
  await collector.watch(4, () => user.get('/api/plants').expect(503));
  return collector;
});

/** What each alert warns of, and how to collect metrics while it is so. */
export const alertCauses: Readonly<Record<string, readonly [cause: string, Collect]>> = {
  PlantCareDown: [
    'a server is gone',
    async () => {
      const service = await startService({ jobs: false });
      const collector = await watch([service], 1);
      await service.close();
      await collector.watch(2);
      return collector;
    },
  ],

  PlantCareMongoDBDown: ['MongoDB is cut off', whileCutOff],

  PlantCareRedisDown: [
    'Redis is killed',
    async () => {
      const redis = await OwnRedis.prepare();
      await redis.start();
      const service = await startService({ redisUrl: redis.url, jobs: false });
      try {
        await eventually(async () => (await figure(service, 'redis_up')) === 1);
        await redis.kill();
        await eventually(async () => (await figure(service, 'redis_up')) === 0);
        return await watch([service], 2);
      } finally {
        await service.close();
        await redis.remove();
      }
    },
  ],

  PlantCareErrors: ['MongoDB is cut off', whileCutOff],

  PlantCareToolErrors: [
    'MongoDB breaks off what tools ask of it',
    thenRestored(async ({ proxied: { service, proxy }, user }) => {
      proxy.onCommand(({ collection }) => (collection === 'plants' ? 'cut' : undefined));
      return watch([service], 4, () => listByTool(user));
    }),
  ],

  PlantCareSlow: [
    'MongoDB answers late',
    thenRestored(async ({ proxied: { service, proxy }, user }) => {
      await user.plant();
      const collector = await watch([service], 1);
      proxy.fail('delay');
      await collector.watch(8, async (minute) => {
        if (minute % 4 === 0) await several(5, () => user.plant());
      });
      return collector;
    }),
  ],

  PlantCareWritesWait: [
    'hundreds of writes wait for MongoDB',
    thenRestored(async ({ proxied: { service, proxy }, user }) => {
      const users = [user, await service.user()];
      proxy.onCommand(({ inTransaction }) => (inTransaction ? 'requests lost' : undefined));
      const writes = users.map((each) => several(120, () => each.plant()));
      await eventually(async () => (await figure(service, 'write_queue_depth')) > 200);
      const collector = await watch([service], 2);
      proxy.restore();
      // So that what was lost is sent again now, not once it has taken too long.
      proxy.fail('cut', { onlyOpen: true });
      await Promise.all(writes);
      return collector;
    }),
  ],

  PlantCareConnectionsWait: [
    'many read at once and MongoDB hangs',
    thenRestored(async ({ proxied: { service, proxy } }) => {
      const users = await several(40, () => service.user());
      proxy.onCommand(({ collection }) => (collection === 'accounts' ? 'black hole' : undefined));
      const read = async (user: TestUser) => user.get('/api/plants');
      const reads: Promise<unknown>[] = [];
      for (const user of [...users, ...users, ...users, ...users]) {
        // Those that come closer together share one look-up of their accounts.
        await sleep(10);
        reads.push(read(user));
      }
      await eventually(async () => (await figure(service, 'mongodb_connection_waiters')) > 50);
      const collector = await watch([service], 2);
      proxy.restore();
      await Promise.all(reads);
      return collector;
    }),
  ],

  PlantCareEventLoopBlocked: [
    'it stands still for 0.7 s at a time',
    async ({ other }) => {
      const { process } = other.real;
      const collector = await watch([other], 1);
      await collector.watch(6, async () => {
        // A delay is measured from the last turn, of which there has to be one since it was asked for.
        await sleep(100);
        process.kill('SIGSTOP');
        setTimeout(() => process.kill('SIGCONT'), 700);
      });
      return collector;
    },
  ],

  PlantCareTokenGuessing: [
    'an address tries token after token',
    async () => {
      const env = { RATE_LIMIT_AUTH_FAILURES_MAX: '5' };
      const service = await startService({ env, redisUrl: null, jobs: false });
      const client = new Client(service.url, 'wrong');
      const guess = () => client.send('GET', '/api/plants');
      try {
        return await watch([service], 9, async (minute) => {
          if (minute % 4 === 1) await several(400, guess);
        });
      } finally {
        client.close();
        await service.close();
      }
    },
  ],

  PlantCareJobFails: ['no job succeeds for three hours', whileJobsFail],

  PlantCareJobStale: ['no job succeeds for three hours', whileJobsFail],

  PlantCareServerRestarted: [
    'the own MongoDB is killed',
    async ({ server }) => {
      const { dataDir } = server.real;
      const restarts = async () => {
        const name = 'plantcare_own_server_restarts_total';
        return valueOf(await scrape(server.url, server.ca), name, { server: 'mongod' });
      };
      const collector = await watch([server], 1);
      const before = (await restarts()) ?? NaN;
      await kill(ownProcess(dataDir, 'mongod') ?? NaN);
      await eventually(async () => (await restarts()) === before + 1);
      await collector.watch(1);
      return collector;
    },
  ],

  PlantCareDiskFull: ['the disk has less than 2 GB left', ({ other }) => watch([other], 2)],

  PlantCareCertificateExpires: ['it is valid for ten days', ({ other }) => watch([other], 2)],

  PlantCareTokensExpire: [
    'a token is valid for a day',
    async () => {
      const service = await startService({ jobs: false });
      try {
        await service.user({ expiresInSeconds: DAY_S });
        service.app.startJobs();
        await eventually(async () => (await figure(service, 'tokens_expiring')) === 1);
        const collector = await watch([service], 1);
        collector.rest(60);
        return collector;
      } finally {
        await service.close();
      }
    },
  ],

  PlantCareLogLinesLost: [
    'nobody reads the log',
    async ({ other }) => {
      const collector = await watch([other], 1);
      other.real.process.stderr?.destroy();
      for (const path of ['/one', '/two']) {
        await scrape(`${other.url}${path}`, other.ca).catch(() => undefined);
      }
      await collector.watch(1);
      return collector;
    },
  ],

  PlantCareReleasesDiffer: [
    'servers of two releases run',
    async ({ service, other }) => {
      const collector = await watch([service, other], 1);
      collector.rest(30);
      return collector;
    },
  ],
};

/** Calls a tool. */
export function listByTool(user: TestUser) {
  const params = { name: 'list_plants', arguments: {} };
  return user.post('/api/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}

/** MongoDB breaks off whatever jobs ask of it, from the start of their server on. */
async function whileJobsFail(): Promise<Collector> {
  const proxied = await startProxiedService({ jobs: false });
  const { service, proxy } = proxied;
  try {
    const collector = new Collector([service], { startsInSeconds: 3 * HOUR_S });
    await collector.watch(1);
    proxy.onCommand(({ collection }) => (collection === undefined ? undefined : 'cut'));
    service.app.startJobs();
    await eventually(async () => (await figure(service, 'job_failures_total', JOB)) > 3);
    await collector.watch(6);
    return collector;
  } finally {
    await proxied.close();
  }
}

/** Ends what the proxy was made to fail, once it was collected, and waits until all is well again. */
function thenRestored(collect: Collect): Collect {
  return async (services) => {
    const { proxied, user } = services;
    try {
      return await collect(services);
    } finally {
      proxied.proxy.restore();
      await eventually(async () => (await user.get('/api/plants')).status === 200);
    }
  };
}

async function figure({ url }: Target, name: string, labels = {}): Promise<number> {
  return valueOf(await scrape(url), `plantcare_${name}`, labels) ?? NaN;
}
