import { giveBack, takeDatabase } from './databases';
import type { MongodbCommand } from './mongodb-commands';
import { type ServiceOptions, startService, type TestService } from './service';
import { TcpProxy } from './tcp-proxy';

/** A service with a proxy between it and MongoDB. */
export interface ProxiedService {
  service: TestService;
  proxy: TcpProxy;
  /** Of the MongoDB behind the proxy. */
  directUri: string;
  /** Ends whatever the proxy made fail, and closes both. */
  close(): Promise<void>;
}

/** Starts one without Redis. */
export async function startProxiedService(
  options: Pick<ServiceOptions, 'env' | 'jobs'> = {},
): Promise<ProxiedService> {
  const address = takeDatabase();
  const { proxy, uri } = await TcpProxy.before(address);
  const service = await startService({
    ...options,
    mongodbUri: uri,
    redisUrl: null,
  });
  return {
    service,
    proxy,
    directUri: address,
    close: async () => {
      proxy.restore();
      await service.close();
      await proxy.close();
      await giveBack(address);
    },
  };
}

/** What is sent to MongoDB while something is done, but for what keeps connections. */
export async function commandsDuring(
  proxy: TcpProxy,
  work: () => Promise<unknown>,
): Promise<MongodbCommand[]> {
  const sent: MongodbCommand[] = [];
  proxy.onCommand((command) => {
    if (command.name !== 'hello' && command.name !== 'endSessions') sent.push(command);
    return undefined;
  });
  await work();
  proxy.restore();
  return sent;
}
