import { forEachTried } from '../../src/core/each';
import type { StoredId } from '../../src/core/ids';
import type { Host } from '../../src/plugins/host';
import type { Job } from '../../src/plugins/plugin';
import type { Deliveries } from '../deliveries';
import { type Webhook, webhookModel } from './model';
import type { Webhooks } from './service';

/** How many deliveries of a webhook may wait, and how many finished ones are listed. */
const MAX_WAITING = 100_000;
const MAX_LISTED = 100_000;

/** The job that bounds what is stored for webhooks. */
export function cleanup(host: Host, deliveries: Deliveries, service: Webhooks): Job {
  const webhooks = host.model(webhookModel);
  return {
    name: 'webhook cleanup',
    everySeconds: 60,
    run: async (stopping) => {
      const isOver = (): boolean => stopping.aborted;
      const lanes = await deliveries.lanes();
      // Read later, so that those made meanwhile are among them.
      const all = new Map((await webhooks.find().lean()).map((each) => [String(each._id), each]));
      const items = lanes.map((_id) => ({ _id, webhook: all.get(String(_id)) }));
      const clean = async ({ _id, webhook }: (typeof items)[number]): Promise<void> => {
        if (webhook) await bound(deliveries, service, webhook, isOver);
        else await deleteOf(deliveries, _id, isOver);
      };
      await forEachTried(items, clean, { accountOf: ({ webhook }) => webhook?.userId, isOver });
    },
  };
}

async function bound(
  deliveries: Deliveries,
  service: Webhooks,
  webhook: Webhook,
  isOver: () => boolean,
): Promise<void> {
  const waiting = await deliveries.countWaiting(webhook);
  if (waiting > MAX_WAITING && webhook.active) await service.switchOff(webhook, 'full');
  let excess = (await deliveries.countFinished(webhook)) - MAX_LISTED;
  while (excess > 0 && !isOver()) {
    const deleted = await deliveries.deleteFinished(webhook, excess);
    if (deleted === 0) return;
    excess -= deleted;
  }
}

async function deleteOf(
  deliveries: Deliveries,
  _id: StoredId,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver() && (await deliveries.deleteOf({ _id })) > 0);
}
