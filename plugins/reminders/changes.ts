import { asUuid } from '../../src/core/ids';
import type { Host } from '../../src/plugins/host';
import type { Deliveries } from '../deliveries';
import { CHANGED, changeOf, type Subscribers } from '../webhooks';
import { reminderModel, TRIED_MS } from './model';
import { laneFor } from './sender';

/** The programs of people that are told of changes of their garden, or of one that is shared with them. */
export function changeSubscribers(host: Host, deliveries: Deliveries): Subscribers {
  const reminders = host.model(reminderModel);
  const told = { active: true, events: CHANGED };
  return {
    areAny: async (session, except) => {
      const apart = except && { _id: { $ne: asUuid(except) } };
      const found = reminders.exists({ ...told, ...apart }).session(session ?? null);
      return (await found) !== null;
    },
    told: async (changed) => {
      const $in = changed.map(({ id }) => id);
      const about = { $or: [{ garden: { $in } }, { garden: null, userId: { $in } }] };
      const found = await reminders.find({ ...told, ...about }).lean();
      const accounts = new Map(changed.map((each) => [each.id, each]));
      return found.flatMap(({ _id, userId, garden, channel, createdAt }) => {
        const account = accounts.get(garden ?? userId);
        if (!account) return [];
        const route = {
          userId,
          // As for care.due, whose revision is earlier: it does not wait for the next change.
          since: createdAt,
          webhookId: laneFor(channel),
          destinationId: asUuid(_id),
          dropAt: new Date(Date.now() + TRIED_MS),
        };
        const sent = [changeOf(_id, account, route)];
        return { userId: account.id, deliveries: sent, through: deliveries };
      });
    },
  };
}
