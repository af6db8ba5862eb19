import { SwitchSetting } from '../../src/core/settings/settings';
import { on } from '../../src/data/writing/transaction';
import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import { accountClosed, tierChanged } from '../accounts/domain-events';
import carePlugin from '../care';
import { photoDeleted } from '../photos/domain-events';
import { plantCreated, plantDeleted } from '../plants/domain-events';
import { cleanup } from './cleanup';
import { Dispatcher } from './dispatcher';
import {
  deliveryModel,
  progressModel,
  webhookLimitReached,
  webhookModel,
  webhookNotFound,
} from './model';
import { Outbox } from './outbox';
import { DeliveryQueue } from './queue';
import { routes } from './routes';
import { Sender } from './sender';
import { Webhooks } from './service';
import { TimedEvents } from './timed-events';

const allowPrivateSetting = new SwitchSetting(
  'WEBHOOK_ALLOW_PRIVATE',
  false,
  'Whether webhooks may use http and private addresses; for tests, and for a backend in the same network',
);

/** Sends events of accounts to the servers of trusted backends. */
export default definePlugin({
  name: 'webhooks',
  requires: ['accounts', 'backend', 'care', 'photos', 'plants'],
  settings: [allowPrivateSetting],
  errors: [webhookNotFound, webhookLimitReached],
  models: [webhookModel, deliveryModel, progressModel],
  tag: { name: 'Webhooks', description: 'Events of accounts, sent to the server of a backend.' },
  setup: (host) => {
    const accounts = host.use(accountsPlugin);
    const outbox = new Outbox(host);
    const sender = new Sender(host.settings.of(allowPrivateSetting));
    const webhooks = new Webhooks(host, sender);
    const queue = new DeliveryQueue(host);
    const dispatcher = new Dispatcher(host, queue, sender, webhooks);
    const timedEvents = new TimedEvents(host, accounts, host.use(carePlugin), queue);
    accounts.data.keep({
      name: 'webhooks',
      count: (userId) => webhooks.count({ userId }),
      export: async function* (userId) {
        yield await webhooks.list(userId);
      },
      delete: (tx) => webhooks.deleteAll(tx),
    });
    accounts.data.keep({
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
      jobs: [dispatcher.job, ...timedEvents.jobs, cleanup(host, outbox, webhooks)],
      readings: dispatcher.readings,
    };
  },
});
