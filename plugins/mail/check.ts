import { fault, good, type OfflineCheck } from '../../src/plugins/check';
import { mailerOf } from './mailer';

/** Checks whether the mail server accepts the connection and the password; sends nothing. */
export const mailServer: OfflineCheck = async (settings) => {
  const check = 'mail server';
  const mailer = mailerOf(settings);
  if (!mailer) return [good(check, 'not set: no e-mail')];
  const reason = await mailer.fault();
  if (reason === undefined) return [good(check, 'accepts the connection of SMTP_URL')];
  return [fault(check, `The mail server cannot be used (${reason}): check SMTP_URL.`)];
};
