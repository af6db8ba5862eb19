import { SwitchSetting } from '../../src/core/settings/settings';
import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import { Deliveries } from './deliveries';
import { Dispatcher } from './dispatcher';
import { deliveryModel, webhookDeliveryModel } from './model';
import { Poster } from './poster';

export { type Channel, type Lane, type Outcome, TIMEOUT_MS } from './channel';
export type { Deliveries } from './deliveries';
export { type Delivery, delivery, eventId, laneOf, newDelivery, type NewDelivery } from './model';
export { eventBody, newSigningSecret, signedHeaders } from './standard-webhooks';

const allowPrivateSetting = new SwitchSetting(
  'WEBHOOK_ALLOW_PRIVATE',
  false,
  'Whether webhooks may use http and private addresses; for tests, and for a backend in the same network',
);

/** What is to be sent. */
export interface Outgoing {
  /** By webhooks. */
  toBackends: Deliveries;
  /** By mail, and as reminders. */
  toPeople: Deliveries;
}

/** What is to be sent, and its dispatch: other plugins open channels and add deliveries. */
export default definePlugin<Outgoing>({
  name: 'deliveries',
  requires: ['accounts'],
  settings: [allowPrivateSetting],
  models: [deliveryModel, webhookDeliveryModel],
  setup: (host) => {
    const poster = new Poster(host.settings.of(allowPrivateSetting));
    const dispatcher = new Dispatcher(host, poster);
    const parts = { dispatcher, poster };
    const toBackends = new Deliveries(host, webhookDeliveryModel, parts);
    const toPeople = new Deliveries(host, deliveryModel, parts);
    const kept = (name: string, deliveries: Deliveries) => ({
      name,
      count: (userId: string) => deliveries.count(userId),
      export: (userId: string) => deliveries.export(userId),
      erase: (userId: string) => deliveries.erase(userId),
    });
    const { data } = host.use(accountsPlugin);
    data.keep({
      ...kept('webhookDeliveries', toBackends),
      erase: async (userId) => {
        await toBackends.outlive(userId);
        await toBackends.erase(userId);
      },
    });
    data.keep(kept('deliveries', toPeople));
    return { exports: { toBackends, toPeople }, jobs: [dispatcher.job] };
  },
});
