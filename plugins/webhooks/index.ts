import { on } from '../../src/data/writing/listener';
import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import { accountClosed, tierChanged } from '../accounts/domain-events';
import carePlugin from '../care';
import { photoDeleted } from '../photos/domain-events';
import { plantCreated, plantDeleted } from '../plants/domain-events';
import { Courier } from './courier';
import { webhookLimitReached, webhookNotFound } from './errors';
import { clockModel, deliveryModel, webhookModel } from './model';
import { Outbox } from './outbox';
import { Post } from './post';
import { DeliveryQueue } from './queue';
import { Reminders } from './reminders';
import { routes } from './routes';
import { Webhooks } from './service';
import { allowPrivateSetting } from './settings';
import { upkeep } from './upkeep';

/** What a backend's own server is told of, by signed messages. */
export default definePlugin({
  name: 'webhooks',
  requires: ['accounts', 'backend', 'care', 'photos', 'plants'],
  settings: [allowPrivateSetting],
  errors: [webhookNotFound, webhookLimitReached],
  models: [webhookModel, deliveryModel, clockModel],
  tag: { name: 'Webhooks', description: 'What the server of a trusted backend is told of.' },
  setup: (host) => {
    const accounts = host.use(accountsPlugin);
    const outbox = new Outbox(host);
    const post = new Post(host.settings.of(allowPrivateSetting));
    const webhooks = new Webhooks(host, post);
    const queue = new DeliveryQueue(host);
    const courier = new Courier(host, queue, post, webhooks);
    const reminders = new Reminders(host, accounts, host.use(carePlugin), queue);
    accounts.keep({
      name: 'webhooks',
      count: (userId) => webhooks.count({ userId }),
      export: async function* (userId) {
        yield await webhooks.list(userId);
      },
      delete: (tx) => webhooks.deleteAll(tx),
    });
    accounts.keep({
      name: 'webhookDeliveries',
      count: (userId) => outbox.count(userId),
      export: (userId) => outbox.export(userId),
      erase: (userId) => outbox.erase(userId),
    });
    return {
      operations: () => routes(webhooks),
      listeners: [
        on(plantCreated, (tx, plant) => outbox.add(tx, 'plant.created', plant)),
        on(plantDeleted, (tx, plant) => outbox.add(tx, 'plant.deleted', plant)),
        on(photoDeleted, (tx, photo) => outbox.add(tx, 'photo.deleted', photo)),
        on(accountClosed, (tx) => outbox.add(tx, 'account.deleted', {})),
        on(tierChanged, (tx, { tier }) => outbox.add(tx, 'tier.changed', { tier })),
      ],
      jobs: [courier.job, reminders.job, upkeep(host, outbox, webhooks)],
      readings: courier.readings,
    };
  },
});
