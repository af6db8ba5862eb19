import Joi from 'joi';

import { Setting, type Settings } from '../../src/core/settings/settings';
import { maskUri } from '../../src/core/text/redact';
import { PLAIN_ADDRESS } from './address';

const serverUrl = Joi.string().custom((text: string, helpers) =>
  /^smtps?:\/\/([^/?#\s]*@)?[^/?#@\s]+\/?$/.test(text) && URL.canParse(text)
    ? text
    : helpers.message({
        custom: '{{#label}} must be a URL such as smtp://user:password@mail.example.com:587',
      }),
);

/** An address, or a name and an address in angle brackets. */
const mailbox = Joi.string().custom((text: string, helpers) => {
  const address = /^[^<>()[\]\\,;:@"\p{Cc}]*<([^<>]*)>$/u.exec(text)?.[1] ?? text;
  const { error } = PLAIN_ADDRESS.validate(address);
  const custom = '{{#label}} must be an address such as Plants <plants@example.com>';
  return error ? helpers.message({ custom }) : text;
});

export const smtpUrlSetting = new Setting<string | undefined>(
  'SMTP_URL',
  serverUrl,
  undefined,
  'The mail server: smtp (with STARTTLS if it is offered, and always before a password) or smtps; without it there is no e-mail',
  maskUri,
);

export const mailFromSetting = new Setting<string | undefined>(
  'MAIL_FROM',
  mailbox,
  undefined,
  'The sender of e-mail, such as Plants <plants@example.com>',
);

/** Requires both or neither. */
export function bothOrNeither(settings: Settings): string | undefined {
  const [given, missing] = settings.isGiven(smtpUrlSetting)
    ? [smtpUrlSetting, mailFromSetting]
    : [mailFromSetting, smtpUrlSetting];
  if (!settings.isGiven(given) || settings.isGiven(missing)) return undefined;
  return `${given.name} needs ${missing.name} as well`;
}
