import { gardenNotFound } from '../../src/core/errors';
import { act, type Operation, read, remove, write } from '../../src/plugins/operation';
import {
  emailNotAvailable,
  emailNotConfirmed,
  reminderLimitReached,
  reminderNotFound,
} from './model';
import type { PushKeys } from './push-keys';
import {
  createReminder,
  newReminder,
  pushKey,
  reminders as reminderList,
  reminderView,
  sent,
  updateReminder,
} from './schema';
import type { Sender } from './sender';
import type { Reminders } from './service';

const PATH = '/api/account/reminders';
const common = {
  of: 'person',
  tool: { none: 'people, not assistants, decide how they are reminded' },
} as const;
const reading = { ...common, access: { scope: 'plants:read' } };
const writing = { ...common, access: { scope: 'plants:write' } };
const one = { ...writing, path: `${PATH}/{id}`, params: { id: reminderNotFound } };

/** Operations on reminders (docs/api.md, "Reminders"). */
export function routes(reminders: Reminders, sender: Sender, keys: PushKeys): Operation[] {
  return [
    read({
      ...reading,
      path: PATH,
      operationId: 'listReminders',
      summary: 'List reminders',
      notCacheable: 'attempts to send change them',
      response: { schema: reminderList, description: 'Oldest first' },
      handler: async ({ account, token }) => ({ items: await reminders.list(account.id, token) }),
    }),
    write({
      ...writing,
      method: 'POST',
      path: PATH,
      operationId: 'createReminder',
      summary: 'Set a reminder',
      description:
        'The person is reminded once a day at `remindAt`, if any care is due. A second one by `email`, to the same device or to the same ntfy topic, about the same garden, is the first one, on again. `secret` is shown only in this response: a retry with the same Idempotency-Key gets 409 with the id.',
      body: createReminder,
      secret: 'secret',
      response: { schema: newReminder, description: 'The reminder' },
      errors: [reminderLimitReached, emailNotConfirmed, emailNotAvailable, gardenNotFound],
      handler: ({ tx, token, body }) => reminders.create(tx, token, body),
    }),
    read({
      ...reading,
      path: `${PATH}/key`,
      operationId: 'getPushKey',
      summary: 'Read the key for push subscriptions',
      notCacheable: 'it is no data of the account',
      response: { schema: pushKey, description: 'The key' },
      handler: async () => ({ publicKey: (await keys.get()).publicKey }),
    }),
    write({
      ...one,
      method: 'PATCH',
      operationId: 'updateReminder',
      summary: 'Switch a reminder on or off',
      body: updateReminder,
      response: { schema: reminderView, description: 'The changed reminder' },
      handler: ({ tx, token, params, body }) => reminders.change(tx, token, params.id, body),
    }),
    remove({
      ...one,
      operationId: 'deleteReminder',
      summary: 'Delete a reminder',
      handler: ({ tx, token, params }) => reminders.delete(tx, token, params.id),
    }),
    act({
      ...one,
      path: `${PATH}/{id}/test`,
      operationId: 'testReminder',
      summary: 'Send a reminder now',
      description:
        'Makes one attempt, within 10 seconds, whether anything is due or not and also while it is off.',
      response: { schema: sent, description: 'Whether it was sent' },
      handler: ({ tenant, token, params }) => sender.test(tenant.userId, token, params.id),
    }),
  ];
}
