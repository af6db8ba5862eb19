import { isIP, isIPv6 } from 'node:net';

import type { Context } from 'koa';

import type { ClientIpLogging } from '../../core/settings/host-settings';

/** Whose budget a request spends that no account pays for: what a proxy forwards may be no address. */
export function clientBudget({ ip, req }: Context): string {
  return addressBudget(isIP(ip) === 0 ? (req.socket.remoteAddress ?? '') : ip);
}

/** Whose budget failures spend: an IPv4 address, or the /64 that one customer has of IPv6. */
function addressBudget(ip: string): string {
  return isIPv6(ip) && ipv4Of(ip) === undefined ? network(ip, 4) : (ipv4Of(ip) ?? ip);
}

/**
 * A client address as it may be logged: masked it is the /24 of an IPv4 address or the /48 of an
 * IPv6 one, which many share.
 */
export function loggedAddress(ip: string, logging: ClientIpLogging): string | undefined {
  // What proxies forward may be anything.
  if (logging === 'off' || isIP(ip) === 0) return undefined;
  const ipv4 = ipv4Of(ip);
  if (logging === 'full') return ipv4 ?? ip;
  return ipv4 === undefined ? network(ip, 3) : ipv4.replace(/\d+$/, '0');
}

/** An IPv4 address, also where it is written as one of IPv6. */
function ipv4Of(ip: string): string | undefined {
  return /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
}

/** The first groups of an IPv6 address, in the one way in which URLs write them. */
function network(ip: string, groups: number): string {
  const [head = '', tail] = new URL(`http://[${ip.replace(/%.*$/, '')}]`).hostname
    .slice(1, -1)
    .split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(8 - first.length - last.length).fill('0');
  return `${[...first, ...zeros, ...last].slice(0, groups).join(':')}::/${16 * groups}`;
}
