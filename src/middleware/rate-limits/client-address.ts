import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';

import type { ClientIpLogging } from '../../core/settings/host-settings';

/**
 * The address whose budget an unauthenticated request spends; for IPv6 the /64, which one customer has.
 * If a proxy forwards an invalid address, it is that of the socket.
 */
export function clientBudget({ ip, req }: Context): string {
  const sender = isIP(ip) === 0 ? (req.socket.remoteAddress ?? '') : ip;
  // A socket that was closed meanwhile has none.
  if (isIP(sender) === 0) return sender;
  const address = ipaddr.process(sender);
  return address instanceof ipaddr.IPv6 ? network(address, 64) : address.toString();
}

/**
 * A client address as it may be logged: masked it is the /24 of an IPv4 address or the /48 of an
 * IPv6 one, which many share.
 */
export function loggedAddress(ip: string, logging: ClientIpLogging): string | undefined {
  // What proxies forward may be anything.
  if (logging === 'off' || isIP(ip) === 0) return undefined;
  const address = ipaddr.process(ip);
  if (logging === 'full') return address.toString();
  if (address instanceof ipaddr.IPv6) return network(address, 48);
  return ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/24`).toString();
}

function network(address: ipaddr.IPv6, bits: number): string {
  const cidr = `${address.toString()}/${bits}`;
  return `${ipaddr.IPv6.networkAddressFromCIDR(cidr).toString()}/${bits}`;
}
