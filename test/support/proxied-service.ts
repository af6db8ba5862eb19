import { eventually } from './processes';
import { freshDatabase, type ServiceOptions, startService, type TestService } from './service';
import { TcpProxy } from './tcp-proxy';

/** A service with a proxy between it and MongoDB. */
export interface ProxiedService {
  service: TestService;
  proxy: TcpProxy;
  /** Ends whatever the proxy made fail, and closes both. */
  close(): Promise<void>;
}

/** Starts one without Redis. */
export async function startProxiedService(
  options: Pick<ServiceOptions, 'jobs'> = {},
): Promise<ProxiedService> {
  const uri = new URL(freshDatabase());
  const proxy = await TcpProxy.start(decodeURIComponent(uri.hostname));
  uri.host = `127.0.0.1:${proxy.port}`;
  const service = await startService({
    ...options,
    mongodbUri: uri.toString(),
    redisUrl: null,
  });
  return {
    service,
    proxy,
    close: async () => {
      proxy.restore();
      // Connections that failed are noticed one by one.
      await eventually(async () => {
        const dropping = service.app.database.connection.dropDatabase();
        return dropping.then(
          () => true,
          () => false,
        );
      });
      await service.close();
      await proxy.close();
    },
  };
}
