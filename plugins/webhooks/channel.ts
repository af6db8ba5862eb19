import { idText } from '../../src/core/ids';
import { DAY_MS, HOUR_MS } from '../../src/core/time';
import type { Host } from '../../src/plugins/host';
import {
  type Channel,
  type Deliveries,
  type Delivery,
  type Outcome,
  signedHeaders,
} from '../deliveries';
import { type Webhook, webhookModel } from './model';
import type { Webhooks } from './service';

/** How long a webhook, or one of its deliveries, may fail before the webhook is switched off. */
const MAX_FAILING_MS = 3 * DAY_MS;

/** Sends events to backends; each webhook is a lane. */
export class WebhookChannel implements Channel<Webhook> {
  readonly name = 'webhook';
  readonly concurrency = 16;
  readonly longestPauseMs = HOUR_MS;
  readonly #poster: Deliveries['poster'];
  readonly #service: Webhooks;
  readonly #webhooks;

  constructor(host: Host, { poster }: Deliveries, service: Webhooks) {
    this.#poster = poster;
    this.#service = service;
    this.#webhooks = host.model(webhookModel);
  }

  lanes(): Promise<Webhook[]> {
    return this.#service.active();
  }

  async resumed({ _id }: Webhook): Promise<void> {
    await this.#webhooks.updateOne({ _id }, { $set: { isResumed: false } });
  }

  send(delivery: Delivery, webhook: Webhook): Promise<Outcome> {
    const headers = signedHeaders(secretsOf(webhook), idText(delivery._id), delivery.body);
    return this.#poster.post(webhook.url, headers, delivery.body);
  }

  async recorded(delivery: Delivery, { status, error }: Outcome, webhook: Webhook): Promise<void> {
    const failingSince = error === null ? null : (webhook.failingSince ?? new Date());
    if (webhook.failingSince !== failingSince) {
      webhook.failingSince = failingSince;
      await this.#webhooks.updateOne({ _id: webhook._id }, { $set: { failingSince } });
    }
    if (error === null) return;
    if (status === 410) await this.#service.switchOff(webhook, 'gone');
    else if (hasFailedTooLong(webhook) || hasFailedTooLong(delivery)) {
      await this.#service.switchOff(webhook, 'failing');
    }
  }
}

/** The secret, and for a while the one before. */
function secretsOf({ secret, previousSecret, previousUntil }: Webhook): string[] {
  const isKnown = previousSecret && previousUntil && previousUntil.getTime() > Date.now();
  return isKnown ? [secret, previousSecret] : [secret];
}

function hasFailedTooLong({ failingSince }: Webhook | Delivery): boolean {
  return failingSince !== null && Date.now() - failingSince.getTime() >= MAX_FAILING_MS;
}
