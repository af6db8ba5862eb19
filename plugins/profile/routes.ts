import type { Account, HeldToken } from '../../src/core/identity';
import { calendarOf } from '../../src/core/time';
import type { Tenant } from '../../src/data/model/models';
import type { Host } from '../../src/plugins/host';
import { type Operation, read, write } from '../../src/plugins/operation';
import type { Accounts } from '../accounts';
import type { ActiveReminders } from '../reminders';
import { profileSchema, type ProfileView, updateProfile } from './schema';

const SAYS_TIME = 'it contains the current time';

/** Operations on the caller's own account. */
export function routes(host: Host, accounts: Accounts, reminders: ActiveReminders): Operation[] {
  const profile = profileSchema(host.quotas.names, Object.keys(host.features));
  const limitOf = ({ tier, usage }: Account, quota: string) => ({
    max: host.quotas.limit(tier, quota),
    used: usage[quota] ?? 0,
  });
  const view = async (
    account: Account,
    person: { remindAt: string | null; tenant: Tenant },
    { id, name, scopes, expiresAt }: HeldToken,
    now: Date,
  ): Promise<ProfileView> => ({
    userId: account.id,
    tier: account.tier,
    timezone: account.timezone,
    language: account.language,
    remindAt: person.remindAt,
    reminders: await reminders.countActive(person.tenant),
    ...(account.gardenName === null ? {} : { gardenName: account.gardenName }),
    now,
    today: calendarOf(account.timezone)(now),
    limits: Object.fromEntries(host.quotas.names.map((quota) => [quota, limitOf(account, quota)])),
    features: Object.fromEntries(
      Object.entries(host.features).map(([name, { tiers }]) => [
        name,
        tiers.includes(account.tier),
      ]),
    ),
    token: { id, name, scopes, expiresAt },
  });
  return [
    read({
      path: '/api/account',
      summary: 'Read the account',
      description:
        'The tier with its limits and usage, the time zone and the current day there, the language, the time of reminders, and the token.',
      access: { anyToken: 'it describes the token' },
      notConditional: SAYS_TIME,
      response: { schema: profile, description: 'The account and the token' },
      tool: {
        name: 'get_account',
        description:
          'Read the account: today and now in the time zone of the person, the tier, its limits and their use, and the scopes of this token.',
      },
      handler: ({ account, caller: { id: userId, remindAt }, token, now }) =>
        // Reminders are of the person, also in the garden of another.
        view(account, { remindAt, tenant: { userId } }, token, now),
    }),
    write({
      method: 'PATCH',
      path: '/api/account',
      summary: 'Change time zone, language and time of reminders',
      description:
        'Fields that are left out do not change. The time zone determines calendar days, the language how names are sorted.',
      of: 'person',
      access: { scope: 'plants:write' },
      notConditional: SAYS_TIME,
      body: updateProfile,
      response: { schema: profile, description: 'The changed account' },
      tool: {
        name: 'update_account',
        description:
          "Set the person's time zone (IANA name), which determines what today is, their language, or their time of reminders (clear remindAt for none). Logged events keep their days.",
      },
      handler: async ({ tx, token, body, now }) => {
        const account = await accounts.change(tx, body);
        return view(account, { remindAt: account.remindAt, tenant: tx }, token, now);
      },
    }),
  ];
}
