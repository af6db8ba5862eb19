import { SwitchSetting } from '../../src/core/settings/settings';
import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import { Deliveries } from './deliveries';
import { Dispatcher } from './dispatcher';
import { deliveryModel } from './model';
import { Poster } from './poster';
import { DeliveryQueue } from './queue';

export { type Channel, type Lane, type Outcome, TIMEOUT_MS } from './channel';
export type { Deliveries } from './deliveries';
export { type Delivery, delivery, eventId, laneOf, newDelivery, type NewDelivery } from './model';
export { eventBody, newSigningSecret, signedHeaders } from './standard-webhooks';

const allowPrivateSetting = new SwitchSetting(
  'WEBHOOK_ALLOW_PRIVATE',
  false,
  'Whether webhooks may use http and private addresses; for tests, and for a backend in the same network',
);

/**
 * What is to be sent to programs and people, and its dispatch: other plugins open channels and add deliveries.
 */
export default definePlugin<Deliveries>({
  name: 'deliveries',
  requires: ['accounts'],
  settings: [allowPrivateSetting],
  models: [deliveryModel],
  setup: (host) => {
    const poster = new Poster(host.settings.of(allowPrivateSetting));
    const dispatcher = new Dispatcher(host, new DeliveryQueue(host), poster);
    const deliveries = new Deliveries(host, dispatcher, poster);
    host.use(accountsPlugin).data.keep({
      name: 'webhookDeliveries',
      count: (userId) => deliveries.count(userId),
      export: (userId) => deliveries.export(userId),
      erase: (userId) => deliveries.erase(userId),
    });
    return { exports: deliveries, jobs: [dispatcher.job] };
  },
});
