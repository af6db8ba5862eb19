import type { IncomingMessage } from 'node:http';

import { hostSettings } from './host-settings';
import { isLoopback, type Settings } from './settings';

/** Where the resource document is: of the whole API, and behind it of one path. */
export const RESOURCE_DOCUMENT = '/.well-known/oauth-protected-resource';
/** The resource that is the tools alone. */
export const TOOLS_PATH = '/api/mcp';

/** The origin of addresses that are given to people: that of PUBLIC_URL, or without it this machine's. */
export function ownOrigin(settings: Settings): string {
  const scheme = settings.of(hostSettings.tlsCertFile) === undefined ? 'http' : 'https';
  const publicUrl = settings.of(hostSettings.publicUrl);
  return publicUrl ?? `${scheme}://localhost:${settings.of(hostSettings.port)}`;
}

/**
 * The origin at which people and clients reach the program: that of PUBLIC_URL, or without it the
 * loopback one that a request names. No other is to be believed.
 */
export function publicOriginOf(settings: Settings, request: IncomingMessage): string | undefined {
  const publicUrl = settings.of(hostSettings.publicUrl);
  if (publicUrl !== undefined) return publicUrl;
  const scheme = settings.of(hostSettings.tlsCertFile) === undefined ? 'http' : 'https';
  const named = `${scheme}://${request.headers.host ?? ''}`;
  if (!URL.canParse(named)) return undefined;
  const url = new URL(named);
  return isLoopback(url) ? url.origin : undefined;
}
