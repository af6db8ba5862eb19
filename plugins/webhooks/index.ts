import { on } from '../../src/data/writing/transaction';
import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import { accountClosed, tierChanged } from '../accounts/domain-events';
import carePlugin from '../care';
import deliveriesPlugin from '../deliveries';
import { photoDeleted } from '../photos/domain-events';
import { plantCreated, plantDeleted } from '../plants/domain-events';
import { AccountChanges } from './account-changes';
import { WebhookChannel } from './channel';
import { cleanup } from './cleanup';
import {
  deliveryNotFound,
  progressModel,
  webhookLimitReached,
  webhookModel,
  webhookNotFound,
} from './model';
import { Outbox } from './outbox';
import { routes } from './routes';
import { Webhooks } from './service';
import { TimedEvents } from './timed-events';

export { changeOf, type Subscribers, type Told } from './account-changes';
export { CHANGED } from './model';

/** The interface for other plugins. */
export type ChangesOfAccounts = Pick<AccountChanges, 'subscribe' | 'begin'>;

/** Sends events of accounts to the servers of trusted backends. */
export default definePlugin<ChangesOfAccounts>({
  name: 'webhooks',
  requires: ['accounts', 'backend', 'care', 'deliveries', 'photos', 'plants'],
  errors: [webhookNotFound, webhookLimitReached, deliveryNotFound],
  models: [webhookModel, progressModel],
  tag: { name: 'Webhooks', description: 'Events of accounts, sent to the server of a backend.' },
  setup: (host) => {
    const accounts = host.use(accountsPlugin);
    const care = host.use(carePlugin);
    const { toBackends: deliveries } = host.use(deliveriesPlugin);
    const outbox = new Outbox(host, deliveries);
    const changes = new AccountChanges(host, accounts);
    const webhooks = new Webhooks(host, deliveries, changes);
    const timedEvents = new TimedEvents({ host, accounts, care, deliveries, webhooks });
    accounts.data.keep({
      name: 'webhooks',
      count: (userId) => webhooks.count({ userId }),
      export: async function* (userId) {
        yield await webhooks.list(userId);
      },
      delete: (tx) => webhooks.deleteAll(tx),
    });
    return {
      exports: changes,
      operations: () => routes(webhooks),
      listeners: [
        on(plantCreated, (tx, plant) => outbox.add(tx, 'plant.created', plant)),
        on(plantDeleted, (tx, plant) => outbox.add(tx, 'plant.deleted', plant)),
        on(photoDeleted, (tx, photo) => outbox.add(tx, 'photo.deleted', photo)),
        on(accountClosed, (tx) => outbox.add(tx, 'account.deleted', {})),
        on(tierChanged, (tx, { tier }) => outbox.add(tx, 'tier.changed', { tier })),
      ],
      jobs: [...timedEvents.jobs, changes.job, cleanup(host, deliveries, webhooks)],
      readings: deliveries.open(new WebhookChannel(host, deliveries, webhooks)),
    };
  },
});
