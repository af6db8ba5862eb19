import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import { Addresses, addressModel } from './addresses';
import { mailServer } from './check';
import { type Mailer, mailerOf } from './mailer';
import { bothOrNeither, mailFromSetting, smtpUrlSetting } from './settings';

export { addressIn } from './address';
export { type Addresses, RECOVERY_REST_MS } from './addresses';
export type { Mail, Mailer, MailOutcome } from './mailer';

/** What other plugins use. */
export interface MailService {
  /** Undefined if no mail server is set. */
  mailer: Mailer | undefined;
  addresses: Addresses;
}

/** The mail server, and the addresses at which people receive mail. */
export default definePlugin<MailService>({
  name: 'mail',
  requires: ['accounts', 'deliveries'],
  settings: [smtpUrlSetting, mailFromSetting],
  rules: [bothOrNeither],
  checks: [mailServer],
  models: [addressModel],
  setup: (host) => {
    const addresses = new Addresses(host);
    host.use(accountsPlugin).data.keep({
      name: 'email',
      count: (userId) => addresses.count(userId),
      export: (userId) => addresses.export(userId),
      delete: async ({ session, userId }) => {
        await addresses.remove(session, userId);
      },
    });
    return { exports: { mailer: mailerOf(host.settings), addresses } };
  },
});
