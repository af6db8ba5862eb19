import type { IncomingMessage } from 'node:http';

import { hostSettings } from './host-settings';
import { isLoopback, type Settings } from './settings';

/** The path of the resource metadata (RFC 9728); the path of a resource may follow. */
export const RESOURCE_DOCUMENT = '/.well-known/oauth-protected-resource';

/** The scheme that the server speaks. */
export function schemeOf(settings: Settings): 'http' | 'https' {
  return settings.of(hostSettings.tlsCertFile) === undefined ? 'http' : 'https';
}

/** The origin for URLs that are shown to people: PUBLIC_URL, or else localhost. */
export function ownOrigin(settings: Settings): string {
  const publicUrl = settings.of(hostSettings.publicUrl);
  return publicUrl ?? `${schemeOf(settings)}://localhost:${settings.of(hostSettings.port)}`;
}

/**
 * The origin at which clients reach the program: PUBLIC_URL, or else the loopback origin in the Host
 * header of a request; others are not trusted.
 */
export function publicOriginOf(settings: Settings, request: IncomingMessage): string | undefined {
  const publicUrl = settings.of(hostSettings.publicUrl);
  if (publicUrl !== undefined) return publicUrl;
  const named = `${schemeOf(settings)}://${request.headers.host ?? ''}`;
  if (!URL.canParse(named)) return undefined;
  const url = new URL(named);
  return isLoopback(url) ? url.origin : undefined;
}
