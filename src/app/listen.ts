import type { Server } from 'node:net';

import { hostSettings } from '../core/settings/host-settings';
import { schemeOf } from '../core/settings/public-origin';
import type { PortSetting, Settings } from '../core/settings/settings';
import { ServersError } from '../servers';

/** How many connections may wait to be accepted; the kernel ignores further ones. */
const BACKLOG = 4096;

/**
 * Makes a server listen on HOST and on the port of a setting.
 *
 * @throws ServersError if it cannot, with the reason
 */
export async function listen(
  server: Server,
  settings: Settings,
  setting: PortSetting<number | undefined>,
): Promise<void> {
  const port = settings.of(setting);
  const host = settings.of(hostSettings.host);
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => {
      reject(new ServersError(reasonFor(error, host, port, setting.name)));
    };
    server.once('error', refuse);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off('error', refuse);
      resolve();
    });
  });
}

/** Returns the URL of a server with these settings at an address of it. */
export function urlOf(settings: Settings, address: string, port: number): string {
  return `${schemeOf(settings)}://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

function reasonFor(
  error: NodeJS.ErrnoException,
  host: string,
  port: number | undefined,
  name: string,
): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is already in use; set ${name} to another port.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST ${host} is not an address of this machine; set HOST to one of its addresses, or to 0.0.0.0 for all.`;
    case 'EACCES':
      return `This user may not listen on port ${port}; set ${name} to 1024 or higher.`;
    default:
      return `Cannot listen on ${host} port ${port}: ${error.message}.`;
  }
}
