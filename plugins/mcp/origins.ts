import type { IncomingHttpHeaders } from 'node:http';

import { originOf, originsSetting } from '../../src/core/settings';

/** The setting that lets other than loopback addresses reach the tool endpoint. */
export const allowedOriginsSetting = originsSetting(
  'MCP_ALLOWED_ORIGINS',
  'Origins, by comma, whose pages and hosts may use /api/mcp besides loopback ones',
);

/**
 * Keeps pages of other sites away from the endpoint, also those whose name was made to point at
 * this machine (DNS rebinding). Programs that are not browsers send no Origin.
 */
export class Origins {
  readonly #allowed: readonly URL[];

  constructor(allowed: readonly string[]) {
    this.#allowed = allowed.map((origin) => new URL(origin));
  }

  /** Why a request may not come in; undefined when it may. */
  fault(headers: IncomingHttpHeaders): string | undefined {
    const { origin, host = headers[':authority'] } = headers;
    if (origin !== undefined && !this.#allowsOrigin(origin)) return refusal('Origin');
    if (typeof host === 'string' && !this.#allowsHost(host)) return refusal('Host');
    return undefined;
  }

  #allowsOrigin(origin: string): boolean {
    const known = originOf(origin);
    if (known === undefined) return false;
    return isLoopback(new URL(known)) || this.#allowed.some((each) => each.origin === known);
  }

  #allowsHost(host: string): boolean {
    if (URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`))) return true;
    return this.#allowed.some(({ protocol, host: allowed }) => {
      const url = `${protocol}//${host}`;
      return URL.canParse(url) && new URL(url).host === allowed;
    });
  }
}

function refusal(header: string): string {
  return `The ${header} of this request is not allowed; operators allow it by MCP_ALLOWED_ORIGINS.`;
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
