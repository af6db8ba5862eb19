import type { MailService } from '../../mail';
import type { Means } from './means';

/** Sends to the confirmed address of a person. */
export function emailMeans({ mailer, addresses }: MailService): Means | undefined {
  if (!mailer) return undefined;
  return {
    channel: 'email',
    concurrency: mailer.concurrency,
    send: async ({ userId }, { id, title, text, link }) => {
      const to = (await addresses.of(userId))?.address;
      if (to === undefined) {
        const error = 'The account has no confirmed e-mail address.';
        return { status: null, error, isGone: true };
      }
      return mailer.send({ id, to, subject: title, text: `${text}\n\n${link}\n` });
    },
    abort: () => {
      mailer.abort();
    },
  };
}
