/** The texts about e-mail. */
const en = {
  forgot: 'Forgot how to sign in?',
  forgotAbout:
    'Type your name or your e-mail address. If it belongs to an account with a confirmed address, we send a link there.',
  nameOrEmail: 'Name or e-mail address',
  sendLink: 'Send a link',
  linkSent: 'Check your mail',
  linkSentAbout:
    'If an account with a confirmed address fits what you typed, a link is on its way. It works for an hour. Another one is sent after half an hour at the earliest.',
  recover: 'Set a new way to sign in',
  recoverAbout:
    'This replaces the password and all passkeys, and ends all sessions, of the account',
  endTokens: 'Also revoke all developer tokens and authorized apps',
  badLink: 'This link has expired, was already used, or was replaced by a newer one.',
  email: 'E-mail address',
  emailOptional: 'E-mail address, to get back in if you lose your password (optional)',
  emailAbout:
    'With a confirmed address you can get back in if you lose your password and passkeys.',
  setEmail: 'Confirm an address',
  changeEmail: 'Use another address',
  badEmail: 'Use an e-mail address such as ada@example.com.',
  tooManyMails: 'Too many links were sent. Try again in an hour.',
  addressTaken:
    'This address already serves another account. Remove it there first, or use another one.',
  confirmEmail: 'Confirm your e-mail address',
  confirmAbout: 'Does this address belong to you, and should it serve this account?',
  confirm: 'Confirm',
  emailConfirmed: 'Your address is confirmed',
};

const fr: typeof en = {
  forgot: 'Vous ne pouvez plus vous connecter ?',
  forgotAbout:
    'Saisissez votre nom ou votre adresse e-mail. S’ils correspondent à un compte dont l’adresse est confirmée, nous y envoyons un lien.',
  nameOrEmail: 'Nom ou adresse e-mail',
  sendLink: 'Envoyer un lien',
  linkSent: 'Consultez vos e-mails',
  linkSentAbout:
    'Si un compte dont l’adresse est confirmée correspond à votre saisie, un lien est en route. Il est valable une heure. Le suivant ne sera envoyé qu’après une demi-heure.',
  recover: 'Choisir un nouveau moyen de connexion',
  recoverAbout:
    'Cela remplace le mot de passe et toutes les clés d’accès, et met fin à toutes les sessions, du compte',
  endTokens: 'Révoquer aussi tous les jetons de développeur et toutes les applications autorisées',
  badLink: 'Ce lien a expiré, a déjà servi, ou a été remplacé par un plus récent.',
  email: 'Adresse e-mail',
  emailOptional:
    'Adresse e-mail, pour retrouver l’accès si vous perdez votre mot de passe (facultative)',
  emailAbout:
    'Avec une adresse confirmée, vous retrouvez l’accès si vous perdez votre mot de passe et vos clés d’accès.',
  setEmail: 'Confirmer une adresse',
  changeEmail: 'Utiliser une autre adresse',
  badEmail: 'Utilisez une adresse e-mail telle que ada@example.com.',
  tooManyMails: 'Trop de liens ont été envoyés. Réessayez dans une heure.',
  addressTaken:
    'Cette adresse sert déjà à un autre compte. Retirez-la d’abord de celui-ci, ou utilisez-en une autre.',
  confirmEmail: 'Confirmez votre adresse e-mail',
  confirmAbout: 'Cette adresse est-elle la vôtre, et doit-elle servir à ce compte ?',
  confirm: 'Confirmer',
  emailConfirmed: 'Votre adresse est confirmée',
};

export const EMAIL_TEXTS = { en, fr };
