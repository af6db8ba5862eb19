import { ownOrigin } from '../../src/core/settings/public-origin';
import { on } from '../../src/data/writing/transaction';
import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import { reminderTimeChanged } from '../accounts/domain-events';
import carePlugin from '../care';
import deliveriesPlugin from '../deliveries';
import mailPlugin from '../mail';
import membersPlugin from '../members';
import { membershipEnded } from '../members/domain-events';
import webhooksPlugin from '../webhooks';
import { changeSubscribers } from './changes';
import { emailMeans } from './channels/email';
import { ntfyMeans } from './channels/ntfy';
import { pushMeans } from './channels/push';
import { urlMeans } from './channels/url';
import { dueJob } from './due';
import {
  clockModel,
  emailNotAvailable,
  emailNotConfirmed,
  pushKeyModel,
  reminderLimitReached,
  reminderModel,
  reminderNotFound,
} from './model';
import { privateKeySetting, PushKeys } from './push-keys';
import { routes } from './routes';
import { Sender } from './sender';
import { Reminders } from './service';

/** The interface for other plugins. */
export type ActiveReminders = Pick<Reminders, 'countActive'>;

/** Reminds people of due care: by e-mail, on their devices, or through a program of their own. */
export default definePlugin<ActiveReminders>({
  name: 'reminders',
  requires: ['accounts', 'care', 'deliveries', 'mail', 'members', 'pages', 'plants', 'webhooks'],
  settings: [privateKeySetting],
  errors: [reminderNotFound, reminderLimitReached, emailNotConfirmed, emailNotAvailable],
  models: [reminderModel, clockModel, pushKeyModel],
  tag: { name: 'Reminders', description: 'Reminders of due care, by e-mail, push, ntfy or a URL.' },
  setup: (host) => {
    const accounts = host.use(accountsPlugin);
    const { toPeople: deliveries } = host.use(deliveriesPlugin);
    const mail = host.use(mailPlugin);
    const members = host.use(membersPlugin);
    const keys = new PushKeys(host);
    const changes = host.use(webhooksPlugin);
    changes.subscribe(changeSubscribers(host, deliveries));
    const reminders = new Reminders({ host, deliveries, mail, members, changes });
    const email = emailMeans(mail);
    const means = [
      ...(email ? [email] : []),
      pushMeans(deliveries, keys, ownOrigin(host.settings)),
      urlMeans(deliveries),
      ntfyMeans(deliveries),
    ];
    const care = host.use(carePlugin);
    const sender = new Sender({ host, accounts, care, members, reminders, means });
    accounts.data.keep(reminders.kept);
    const channels = means.map(({ channel }) => channel);
    return {
      exports: reminders,
      operations: () => routes(reminders, sender, keys),
      listeners: [
        on(reminderTimeChanged, (tx, to) => reminders.move(tx, to)),
        on(membershipEnded, ({ session }, { person, garden }) =>
          reminders.end(session, person, garden),
        ),
      ],
      jobs: [dueJob(host, deliveries, channels)],
      readings: sender.channels.flatMap((channel) => deliveries.open(channel)),
    };
  },
});
