import type { IncomingHttpHeaders } from 'node:http';

import { type ApiError, ErrorCode } from '../../src/core/errors';
import { isLoopback, originOf, originsSetting } from '../../src/core/settings/settings';
import { hasToken } from '../accounts';

export const allowedOriginsSetting = originsSetting(
  'MCP_ALLOWED_ORIGINS',
  'Origins, separated by commas, whose pages and hosts may use /api/mcp besides loopback',
);

export const originNotAllowed = new ErrorCode(
  'origin_not_allowed',
  403,
  'The Origin or Host of a request to the tool endpoint is not allowed.',
);

/**
 * Refuses requests from pages of other sites, also by DNS rebinding. Programs other than browsers send
 * no Origin.
 */
export class Origins {
  readonly #allowed: readonly URL[];

  constructor(allowed: readonly string[]) {
    this.#allowed = allowed.map((origin) => new URL(origin));
  }

  /** @throws ApiError origin_not_allowed */
  check(headers: IncomingHttpHeaders): void {
    const { origin, host } = headers;
    if (origin !== undefined && !this.#allowsOrigin(origin)) throw refusal('Origin', origin);
    if (host !== undefined && !this.#allowsHost(host)) throw refusal('Host', host);
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

/** A plain host or origin. Anything else may contain a secret, and is not logged. */
const PLAIN = /^[\w.:/[\]-]{1,253}$/;

function refusal(header: string, value: string): ApiError {
  const isShown = PLAIN.test(value) && !hasToken(value);
  return originNotAllowed.error(
    `The ${header} of this request is not allowed; operators allow it by MCP_ALLOWED_ORIGINS.`,
    { logged: `${header} ${isShown ? value : 'of no plain name'}` },
  );
}
