import http from 'node:http';
import https from 'node:https';

import {
  isPrivateAddress,
  lookUpPublic,
  PrivateAddressError,
} from '../../src/core/http/public-address';
import { PROJECT } from '../../src/core/settings/project';
import { type Outcome, TIMEOUT_MS } from './channel';

/** How much of a response body is read. */
const MAX_BODY_BYTES = 64 * 1024;

const NOT_PUBLIC = 'must be a public address';

/** Posts to URLs that others chose, and to no private address. */
export class Poster {
  readonly #allowPrivate: boolean;
  readonly #http = new http.Agent({ keepAlive: true });
  readonly #https = new https.Agent({ keepAlive: true });

  constructor(allowPrivate: boolean) {
    this.#allowPrivate = allowPrivate;
  }

  /**
   * Returns why a URL is not allowed, without its subject; undefined when it is. Names are resolved,
   * and their addresses checked, with each connection.
   */
  faultOf(text: string): string | undefined {
    if (!URL.canParse(text)) return 'must be a URL';
    const url = new URL(text);
    if (url.username || url.password) return 'must not have a user or password';
    if (this.#allowPrivate) return undefined;
    if (url.protocol !== 'https:') return 'must begin with https';
    return isPrivateAddress(url) ? NOT_PUBLIC : undefined;
  }

  /** Makes one attempt. Any 2xx is a success; a redirect is a response like any other. */
  async post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string | Buffer,
  ): Promise<Outcome> {
    const fault = this.faultOf(url);
    if (fault !== undefined) return { status: null, error: `The URL ${fault}.` };
    try {
      const status = await this.#post(new URL(url), headers, body);
      const isSuccess = status >= 200 && status <= 299;
      return { status, error: isSuccess ? null : `The response status was ${status}.` };
    } catch (error) {
      return { status: null, error: sentenceFor(error) };
    }
  }

  /** Aborts all attempts in progress. */
  abort(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  /** Returns the status, once the body was read or cut off. */
  #post(
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: string | Buffer,
  ): Promise<number> {
    const isSecure = url.protocol === 'https:';
    const options = {
      method: 'POST',
      headers: { 'user-agent': `${PROJECT.name}/${PROJECT.version}`, ...headers },
      agent: isSecure ? this.#https : this.#http,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(this.#allowPrivate ? {} : { lookup: lookUpPublic }),
    };
    return new Promise((resolve, reject) => {
      let status: number | undefined;
      let failure = new Error('The connection was closed without a response.');
      const request = (isSecure ? https : http).request(url, options, (response) => {
        status = response.statusCode;
        let bytes = 0;
        // A connection can be used again once the body was read.
        response
          .on('error', () => undefined)
          .on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > MAX_BODY_BYTES) response.destroy();
          });
      });
      request.on('error', (error) => {
        failure = error;
      });
      // Follows everything, also an upgrade, which is neither a response nor an error.
      request.on('close', () => {
        if (status === undefined) reject(failure);
        else resolve(status);
      });
      request.end(body);
    });
  }
}

/** Describes a failure for others. The messages of errors name hosts and paths of this machine. */
function sentenceFor(error: unknown): string {
  if (error instanceof PrivateAddressError) return `The URL ${NOT_PUBLIC}.`;
  if (!(error instanceof Error)) return 'The connection failed.';
  if (error.name === 'AbortError')
    return `There was no response within ${TIMEOUT_MS / 1000} seconds.`;
  return `The connection failed${'code' in error ? ` (${String(error.code)})` : ''}.`;
}
