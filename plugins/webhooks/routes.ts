import Joi from 'joi';

import { text, withKeys } from '../../src/fields/joi';
import { page, type PageQuery, pageQuery } from '../../src/fields/page';
import { named } from '../../src/fields/schema-name';
import { type Operation, read, remove, write } from '../../src/plugins/operation';
import { MANAGE_SCOPE } from '../accounts';
import { adminPortSetting } from '../backend';
import { webhookLimitReached, webhookNotFound } from './errors';
import { delivery, webhook } from './model';
import type { Webhooks } from './service';

const webhookView = named('Webhook', webhook.view);
const newWebhook = named(
  'NewWebhook',
  withKeys(webhook.view, {
    secret: text()
      .required()
      .example('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=')
      .description('What deliveries are signed with, which is never shown again'),
  }),
);
const deliveryView = named('Delivery', delivery.view);

const common = {
  access: { scope: MANAGE_SCOPE },
  limit: 'backend',
  ownPort: adminPortSetting,
  tool: { none: 'webhooks are for a backend, not for assistants' },
};
const one = { ...common, path: '/api/webhooks/{id}', params: { id: webhookNotFound } };
const notCacheable = 'deliveries change it';

/** Operations on webhooks (docs/api.md, "Webhooks"). */
export function routes(webhooks: Webhooks): Operation[] {
  return [
    read({
      ...common,
      path: '/api/webhooks',
      summary: 'List the webhooks of the backend',
      operationId: 'listWebhooks',
      notCacheable,
      response: {
        schema: Joi.object({ items: Joi.array().items(webhookView).required() }),
        description: 'The webhooks, oldest first',
      },
      handler: async ({ tenant }) => ({ items: await webhooks.list(tenant.userId) }),
    }),
    write({
      ...common,
      method: 'POST',
      path: '/api/webhooks',
      summary: 'Have a URL be told of events',
      description:
        'It is told of what happens to all accounts from now on. `secret` is shown this once: a repeat under the same Idempotency-Key is answered with 409 and its id.',
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
      summary: 'Switch a webhook on or off',
      operationId: 'updateWebhook',
      body: webhook.patchBody,
      response: { schema: webhookView, description: 'The webhook as it is now' },
      handler: ({ tx, params, body }) => webhooks.change(tx, params.id, body),
    }),
    remove({
      ...one,
      summary: 'Delete a webhook, with what it was yet to be sent',
      operationId: 'deleteWebhook',
      handler: ({ tx, params }) => webhooks.delete(tx, params.id),
    }),
    read({
      ...one,
      path: '/api/webhooks/{id}/deliveries',
      summary: 'List what a webhook was sent, and what waits to be',
      description: 'Newest first. What was delivered is listed for a week.',
      operationId: 'listDeliveries',
      notCacheable,
      query: Joi.object<PageQuery>(pageQuery('Deliveries')),
      response: { schema: page(deliveryView), description: 'A page of deliveries' },
      handler: ({ tenant, params, query }) => webhooks.deliveries(tenant, params.id, query),
    }),
    write({
      ...one,
      method: 'POST',
      path: '/api/webhooks/{id}/test',
      summary: 'Send a test to a webhook',
      description:
        'Of type `webhook.test`, with the id of the webhook as `webhookId`; it waits while the webhook is off.',
      operationId: 'testWebhook',
      response: { schema: deliveryView, description: 'The delivery, which is sent soon' },
      handler: ({ tx, params }) => webhooks.test(tx, params.id),
    }),
  ];
}
