import { sign } from 'node:crypto';

import { idText } from '../../../src/core/ids';
import { HOUR_MS } from '../../../src/core/time';
import type { Deliveries } from '../../deliveries';
import type { PushKeys } from '../push-keys';
import { encrypted } from './encryption';
import { GONE, type Means, type Message, POSTED_AT_ONCE } from './means';

/** How long a push service keeps a message for a device that is off, in seconds. */
const TTL_SECONDS = 12 * 3600;
/** How long a push service may recognize the program by the same token: at most a day. */
const VALID_MS = 12 * HOUR_MS;
/** A subscription is one of these no more. */
const GONE_STATUSES = [404, GONE];

/** Sends to browsers and apps through their push service (RFC 8030, 8291 and 8292). */
export function pushMeans({ poster }: Deliveries, keys: PushKeys, subject: string): Means {
  return {
    channel: 'push',
    concurrency: POSTED_AT_ONCE,
    send: async ({ _id, url, p256dh, auth }, message) => {
      const endpoint = url ?? '';
      // A message takes the place of an earlier one of the same reminder. 32 characters at most (RFC 8030, 5.4).
      const topic = idText(_id).replaceAll('-', '');
      const headers = {
        authorization: await authorization(endpoint),
        'content-encoding': 'aes128gcm',
        'content-type': 'application/octet-stream',
        ttl: String(TTL_SECONDS),
        topic,
        urgency: 'normal',
      };
      const body = encrypted(payloadOf(message, topic), { p256dh: p256dh ?? '', auth: auth ?? '' });
      const outcome = await poster.post(endpoint, headers, body);
      return { ...outcome, isGone: GONE_STATUSES.includes(outcome.status ?? 0) };
    },
  };

  /** Says to the push service of an endpoint who sends (RFC 8292). */
  async function authorization(endpoint: string): Promise<string> {
    const { publicKey, privateKey } = await keys.get();
    const exp = Math.floor((Date.now() + VALID_MS) / 1000);
    const claims = { aud: new URL(endpoint).origin, exp, sub: subject };
    const signed = `${encoded({ typ: 'JWT', alg: 'ES256' })}.${encoded(claims)}`;
    const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
    const signature = sign('sha256', Buffer.from(signed), key).toString('base64url');
    return `vapid t=${signed}.${signature}, k=${publicKey}`;
  }
}

/** A declarative push message, which browsers without a worker can show too. */
function payloadOf({ title, text, language, link }: Message, tag: string): string {
  const notification = { title, body: text, lang: language, navigate: link, tag };
  return JSON.stringify({ web_push: 8030, notification });
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
