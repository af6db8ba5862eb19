import Joi from 'joi';

import { named, oneOf, text, withKeys } from '../../src/fields/joi';
import { page, type PageQuery, pageQuery } from '../../src/fields/page';
import { type Operation, read, remove, write } from '../../src/plugins/operation';
import { MANAGE_SCOPE } from '../accounts';
import { adminPortSetting } from '../backend';
import { delivery } from '../deliveries';
import {
  deliveryNotFound,
  type EventName,
  EVENTS,
  webhook,
  webhookLimitReached,
  webhookNotFound,
} from './model';
import type { Webhooks } from './service';

const webhookView = named('Webhook', webhook.view);
const newWebhook = named(
  'NewWebhook',
  withKeys(webhook.view, {
    secret: text()
      .required()
      .example('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=')
      .description('The secret that deliveries are signed with; it is shown only here'),
  }),
);
const deliveryView = named('Delivery', delivery.view);

const common = {
  of: 'person',
  access: { scope: MANAGE_SCOPE },
  limit: 'backend',
  ownPort: adminPortSetting,
  tool: { none: 'webhooks are for a backend, not for assistants' },
} as const;
const one = { ...common, path: '/api/webhooks/{id}', params: { id: webhookNotFound } };
const notCacheable = 'deliveries change it';

/** Operations on webhooks (docs/api.md, "Webhooks"). */
export function routes(webhooks: Webhooks): Operation[] {
  return [
    read({
      ...common,
      path: '/api/webhooks',
      summary: 'List webhooks',
      operationId: 'listWebhooks',
      notCacheable,
      response: {
        schema: Joi.object({ items: Joi.array().items(webhookView).required() }),
        description: 'The webhooks of the backend, oldest first',
      },
      handler: async ({ tenant }) => ({ items: await webhooks.list(tenant.userId) }),
    }),
    write({
      ...common,
      method: 'POST',
      path: '/api/webhooks',
      summary: 'Create a webhook',
      description:
        'It receives the events of all accounts from now on. `secret` is shown only in this response: a retry with the same Idempotency-Key gets 409 with the id.',
      operationId: 'createWebhook',
      body: webhook.createBody,
      secret: 'secret',
      response: { schema: newWebhook, description: 'The webhook' },
      errors: [webhookLimitReached],
      handler: ({ tx, body }) => webhooks.create(tx, body),
    }),
    write({
      ...one,
      method: 'PATCH',
      summary: 'Change a webhook, or switch it on or off',
      description: 'With another `url`, waiting deliveries are sent there at once.',
      operationId: 'updateWebhook',
      body: webhook.patchBody,
      response: { schema: webhookView, description: 'The changed webhook' },
      handler: ({ tx, params, body }) => webhooks.change(tx, params.id, body),
    }),
    remove({
      ...one,
      summary: 'Delete a webhook and its deliveries',
      operationId: 'deleteWebhook',
      handler: ({ tx, params }) => webhooks.delete(tx, params.id),
    }),
    read({
      ...one,
      path: '/api/webhooks/{id}/deliveries',
      summary: 'List the deliveries of a webhook',
      description: 'Newest first. Finished deliveries are listed for 7 days.',
      operationId: 'listDeliveries',
      notCacheable,
      query: Joi.object<PageQuery>(pageQuery('Deliveries')),
      response: { schema: page(deliveryView), description: 'A page of deliveries' },
      handler: ({ tenant, params, query }) => webhooks.deliveries(tenant, params.id, query),
    }),
    write({
      ...one,
      method: 'POST',
      path: '/api/webhooks/{id}/rotate',
      summary: 'Rotate the secret of a webhook',
      description:
        'For 24 hours deliveries are signed with the new secret and the one before; a second rotation ends the first secret at once. `secret` is shown only in this response.',
      operationId: 'rotateWebhookSecret',
      secret: 'secret',
      response: { schema: newWebhook, description: 'The webhook with its new secret' },
      handler: ({ tx, params }) => webhooks.rotate(tx, params.id),
    }),
    write({
      ...common,
      method: 'POST',
      path: '/api/webhooks/{id}/deliveries/{delivery}/redeliver',
      params: { id: webhookNotFound, delivery: deliveryNotFound },
      summary: 'Send a delivery again',
      description:
        'It has the same `webhook-id` and body. One that waits is sent at once; it waits while the webhook is off.',
      operationId: 'redeliver',
      response: { schema: deliveryView, description: 'The delivery, to be sent within seconds' },
      handler: ({ tx, params }) => webhooks.redeliver(tx, params.id, params.delivery),
    }),
    write({
      ...one,
      method: 'POST',
      path: '/api/webhooks/{id}/test',
      summary: 'Send a test event to a webhook',
      description:
        'With a `type`, a sample of that event, about the backend itself; otherwise `webhook.test`, whose data is the `webhookId`. It waits while the webhook is off. One of a type that still waits is sent again in place of a second one.',
      operationId: 'testWebhook',
      body: Joi.object<{ type?: EventName }>({
        type: oneOf(EVENTS).description('The event that is shown'),
      }),
      bodyIsOptional: true,
      response: { schema: deliveryView, description: 'The delivery, to be sent within seconds' },
      handler: ({ tx, params, body }) => webhooks.test(tx, params.id, body.type),
    }),
  ];
}
