import { createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';

import { idText } from '../../src/core/ids';
import { PROJECT } from '../../src/core/settings/project';
import { isPrivateAddress, lookUpPublic, PrivateAddressError } from '../../src/core/public-address';
import type { Delivery, Webhook } from './model';
import type { Outcome } from './queue';

/** How long a receiver may take. */
export const PATIENCE_MS = 10_000;

/** How much of a response is read. */
const MAX_BODY_BYTES = 64 * 1024;

/** What the secret of a webhook begins with, before its key in base64. */
export const SECRET_PREFIX = 'whsec_';

const PRIVATE = 'must be a public address';

/** Sends deliveries, signed as Standard Webhooks say. */
export class Post {
  readonly #allowPrivate: boolean;
  readonly #http = new http.Agent({ keepAlive: true });
  readonly #https = new https.Agent({ keepAlive: true });

  constructor(allowPrivate: boolean) {
    this.#allowPrivate = allowPrivate;
  }

  /** Why a webhook cannot be at a URL; undefined where it can. The address of a name shows later. */
  faultOf(url: URL): string | undefined {
    if (url.username || url.password) return 'must not have a user or password';
    if (this.#allowPrivate) return undefined;
    if (url.protocol !== 'https:') return 'must begin with https';
    return isPrivateAddress(url) ? PRIVATE : undefined;
  }

  /** Sends a delivery once. Redirects are not followed: they are answers like any other. */
  async send(webhook: Webhook, delivery: Delivery): Promise<Outcome> {
    const url = new URL(webhook.url);
    const fault = this.faultOf(url);
    if (fault !== undefined) return { status: null, error: `The URL ${fault}.` };
    try {
      const status = await this.#post(url, headersOf(webhook, delivery), delivery.body);
      const isGood = status >= 200 && status <= 299;
      return { status, error: isGood ? null : `The answer was ${status}.` };
    } catch (error) {
      return { status: null, error: sentenceFor(error) };
    }
  }

  /** Breaks off what is on its way. */
  breakOff(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #post(url: URL, headers: Record<string, string>, body: string): Promise<number> {
    const isSecure = url.protocol === 'https:';
    const options = {
      ...{ method: 'POST', headers, agent: isSecure ? this.#https : this.#http },
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...(this.#allowPrivate ? {} : { lookup: lookUpPublic }),
    };
    return new Promise((resolve, reject) => {
      let status: number | undefined;
      let failure: unknown;
      const request = (isSecure ? https : http).request(url, options, (response) => {
        status = response.statusCode;
        let bytes = 0;
        // The body has to be read for the connection to be used again; a long one is not worth it.
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
      // Always comes, also after a response that is none, such as an upgrade.
      request.on('close', () => {
        if (status === undefined) reject(failure);
        else resolve(status);
      });
      request.end(body);
    });
  }
}

function headersOf({ secret }: Webhook, { _id, body }: Delivery): Record<string, string> {
  const [id, sentAt] = [idText(_id), String(Math.floor(Date.now() / 1000))];
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${sentAt}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'user-agent': `${PROJECT.name}/${PROJECT.version}`,
    'webhook-id': id,
    'webhook-timestamp': sentAt,
    'webhook-signature': `v1,${signature}`,
  };
}

/** Messages of errors name hosts and paths, which are of no use to who made the webhook. */
function sentenceFor(error: unknown): string {
  if (error instanceof PrivateAddressError) return `The URL ${PRIVATE}.`;
  if (!(error instanceof Error)) return 'The connection failed.';
  if (error.name === 'AbortError') return `There was no answer in ${PATIENCE_MS / 1000} seconds.`;
  return `The connection failed${'code' in error ? ` (${String(error.code)})` : ''}.`;
}
