import type { Language } from '../../pages';

/** What a mail is about. */
export interface About {
  account: string;
  /** The page to open. */
  link: string;
}

interface Letter {
  subject: string;
  text: string;
}

/** Text in paragraphs. */
function letter(subject: string, ...paragraphs: string[]): Letter {
  return { subject, text: `${paragraphs.join('\n\n')}\n` };
}

const en = {
  confirmation: ({ account, link }: About) =>
    letter(
      'Confirm your e-mail address',
      `Somebody, probably you, gave this address for the account ${account}.`,
      'To confirm it, open this page within 24 hours:',
      link,
      'If it was not you, ignore this message: nothing will happen.',
    ),
  recovery: ({ account, link }: About) =>
    letter(
      'Set a new password',
      `Somebody, probably you, asked for a way back in to the account ${account}.`,
      'To set a new password or passkey, open this page within an hour:',
      link,
      'If it was not you, ignore this message: nothing has changed.',
    ),
  changed: ({ account, link }: About) =>
    letter(
      'Your password or passkeys changed',
      `The password or the passkeys of the account ${account} have changed.`,
      'If it was not you, set a new password here:',
      link,
    ),
  replaced: ({ account, link }: About) =>
    letter(
      'Your e-mail address was removed',
      `The account ${account} does not use this address any more.`,
      'If it was not you, change your password here:',
      link,
    ),
};

const fr: typeof en = {
  confirmation: ({ account, link }) =>
    letter(
      'Confirmez votre adresse e-mail',
      `Quelqu’un, sans doute vous, a donné cette adresse pour le compte ${account}.`,
      'Pour la confirmer, ouvrez cette page dans les 24 heures :',
      link,
      'Si ce n’était pas vous, ignorez ce message : il ne se passera rien.',
    ),
  recovery: ({ account, link }) =>
    letter(
      'Choisissez un nouveau mot de passe',
      `Quelqu’un, sans doute vous, a demandé à retrouver l’accès au compte ${account}.`,
      'Pour choisir un nouveau mot de passe ou une clé d’accès, ouvrez cette page dans l’heure :',
      link,
      'Si ce n’était pas vous, ignorez ce message : rien n’a changé.',
    ),
  changed: ({ account, link }) =>
    letter(
      'Votre mot de passe ou vos clés d’accès ont changé',
      `Le mot de passe ou les clés d’accès du compte ${account} ont changé.`,
      'Si ce n’était pas vous, choisissez un nouveau mot de passe ici :',
      link,
    ),
  replaced: ({ account, link }) =>
    letter(
      'Votre adresse e-mail a été retirée',
      `Le compte ${account} n’utilise plus cette adresse.`,
      'Si ce n’était pas vous, changez votre mot de passe ici :',
      link,
    ),
};

export type LetterKind = keyof typeof en;
export const LETTERS: Readonly<Record<Language, typeof en>> = { en, fr };
