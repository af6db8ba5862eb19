import { giveBack, takeDatabase } from './databases';
import type { MongodbCommand } from './mongodb-commands';
import { type ServiceOptions, startService, type TestService } from './service';
import { TcpProxy } from './tcp-proxy';

/** A service with a proxy between it and MongoDB. */
export interface ProxiedService {
  service: TestService;
  proxy: TcpProxy;
  /** The URI of MongoDB without the proxy. */
  directUri: string;
  /** Ends all faults, and closes both. */
  close(): Promise<void>;
}

/** Starts a service without Redis behind a proxy. */
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

/** Commands that maintain connections, and find out whether MongoDB responds. */
const UPKEEP = ['hello', 'endSessions', 'ping'];

/** The commands that are sent to MongoDB during some work, without upkeep. */
export async function commandsDuring(
  proxy: TcpProxy,
  work: () => Promise<unknown>,
): Promise<MongodbCommand[]> {
  const sent: MongodbCommand[] = [];
  proxy.onCommand((command) => {
    if (!UPKEEP.includes(command.name)) sent.push(command);
    return undefined;
  });
  await work();
  proxy.restore();
  return sent;
}
