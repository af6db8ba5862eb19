import { ErrorCode } from '../../src/core/errors';

/** How many webhooks a backend may have, as at GitHub: each event is written once for each of them. */
export const MAX_WEBHOOKS = 20;

export const webhookNotFound = new ErrorCode('webhook_not_found', 404, 'Webhook not found.');

export const webhookLimitReached = new ErrorCode(
  'webhook_limit_reached',
  403,
  `A backend may have at most ${MAX_WEBHOOKS} webhooks.`,
);
