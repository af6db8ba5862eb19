import type { PipelineStage, QueryFilter } from 'mongoose';

import { forEachTried } from '../../src/core/each';
import type { StoredId } from '../../src/core/ids';
import type { Host } from '../../src/plugins/host';
import type { Job } from '../../src/plugins/plugin';
import { type Delivery, deliveryModel, webhookModel } from './model';
import type { Outbox } from './outbox';
import { waitingFor } from './queue';
import type { Webhooks } from './service';

/** How many deliveries of a webhook may wait, and how many finished ones are listed. */
const MAX_WAITING = 100_000;
const MAX_LISTED = 100_000;

/** The job that bounds what is stored for webhooks. */
export function cleanup(host: Host, outbox: Outbox, service: Webhooks): Job {
  const deliveries = host.model(deliveryModel);
  const webhooks = host.model(webhookModel);
  return {
    name: 'webhook cleanup',
    everySeconds: 60,
    run: async (stopping) => {
      const deleteOldest = async (
        filter: QueryFilter<Delivery>,
        count = Infinity,
      ): Promise<void> => {
        let left = count;
        while (left > 0 && !stopping.aborted) {
          const deleted = await outbox.deleteSome(filter, left);
          if (deleted === 0) return;
          left -= deleted;
        }
      };
      const stages: PipelineStage[] = [
        { $sort: { webhookId: 1 } },
        { $group: { _id: '$webhookId' } },
      ];
      const groups = await deliveries.aggregate<{ _id: StoredId }>(stages);
      // Read later, so that those made meanwhile are among them.
      const all = new Map((await webhooks.find().lean()).map((each) => [String(each._id), each]));
      const items = groups.map((group) => ({ group, webhook: all.get(String(group._id)) }));
      const clean = async ({ group, webhook }: (typeof items)[number]): Promise<void> => {
        const { webhookId, status } = waitingFor(group);
        if (!webhook) {
          await deleteOldest({ webhookId });
          return;
        }
        const waiting = await deliveries.countDocuments({ webhookId, status });
        if (waiting > MAX_WAITING && webhook.active) await service.switchOff(webhook, 'full');
        const listed = (await deliveries.countDocuments({ webhookId })) - waiting;
        if (listed > MAX_LISTED) {
          await deleteOldest({ webhookId, status: { $ne: status } }, listed - MAX_LISTED);
        }
      };
      const isOver = (): boolean => stopping.aborted;
      await forEachTried(items, clean, { accountOf: ({ webhook }) => webhook?.userId, isOver });
    },
  };
}
