import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';

import ipaddr from 'ipaddr.js';

import { withTimeout } from '../async';

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

const QUERIES = { timeout: 1000, tries: 2 };
const OTHER_FAMILY_MS = 250;

/**
 * Looks a name up for a socket, which connects to no other address than it gets from here. So a name
 * cannot be public when it is looked at and private when it is used.
 */
export const lookUpPublic: LookupFunction = (hostname, options, done) => {
  addressesOf(hostname).then(
    (addresses) => {
      const found = addresses.filter(({ address }) => isPublic(address));
      const [first] = found;
      if (!first) {
        done(new PrivateAddressError(), []);
      } else if (options.all) {
        done(null, found);
      } else {
        done(null, first.address, first.family);
      }
    },
    (error: unknown) => {
      done(error as NodeJS.ErrnoException, []); // Of the resolver.
    },
  );
};

interface Address {
  address: string;
  family: 4 | 6;
}

const ofFamily =
  (family: 4 | 6) =>
  (all: readonly string[]): Address[] =>
    all.map((address) => ({ address, family }));

/**
 * The addresses of a name; none for this machine. It asks name servers itself: `lookup` runs only two
 * look-ups at a time, so that two names whose name servers are silent would keep all others waiting, such
 * as MongoDB's.
 *
 * @throws the error of the resolver if it finds none
 */
async function addressesOf(hostname: string): Promise<Address[]> {
  if (/(?:^|\.)localhost\.?$/i.test(hostname)) return [];
  // A new one knows the name servers of now.
  const resolver = new Resolver(QUERIES);
  const asked = [
    resolver.resolve4(hostname).then(ofFamily(4)),
    resolver.resolve6(hostname).then(ofFamily(6)),
  ] as const;
  await Promise.any(asked).catch(() => asked[0]);
  // Some name servers never answer for one of the families.
  const found = asked.map((each) =>
    withTimeout(
      OTHER_FAMILY_MS,
      each.catch(() => []),
    ),
  );
  return (await Promise.all(found)).flatMap((each) => each ?? []);
}
