import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

import ipaddr from 'ipaddr.js';

/** Thrown in place of connecting to an address that is not public. */
export class PrivateAddressError extends Error {
  constructor() {
    super('The address is not public.');
  }
}

/** The only block of IPv6 that is assigned for public use. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an IP address is a public one: not of this machine, a private network or a special use. */
function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return !(address instanceof ipaddr.IPv6) || address.match(PUBLIC_IPV6);
}

/** Whether the host of a URL is an IP address that is not public. A name is not: see {@link lookUpPublic}. */
export function isPrivateAddress({ hostname }: URL): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  return isIP(address) !== 0 && !isPublic(address);
}

/**
 * Looks a name up for a socket, which connects to no other address than it gets from here. So a name
 * cannot be public when it is looked at and private when it is used.
 */
export const lookUpPublic: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) {
      done(error, []);
      return;
    }
    const found = addresses.filter(({ address }) => isPublic(address));
    const [first] = found;
    if (!first) {
      done(new PrivateAddressError(), []);
    } else if (options.all) {
      done(null, found);
    } else {
      done(null, first.address, first.family);
    }
  });
};
