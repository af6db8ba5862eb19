import type { Language } from '../../pages';
import { SETTINGS_TEXTS } from '../settings/texts';

/** What pages say, in one language. */
const en = {
  ...SETTINGS_TEXTS.en,
  signIn: 'Sign in',
  signUp: 'Make an account',
  signOut: 'Sign out',
  name: 'Name',
  password: 'Password',
  newPassword: 'New password, at least 12 characters',
  signedIn: 'You are signed in as',
  ready: 'Your account is ready',
  goOn: 'Return to your program, or go to your settings:',
  again: 'For this, sign in once more: the last time was more than an hour ago.',
  noInvitation: 'Only who was invited can make an account here. Ask for an invitation.',
  badInvitation: 'This invitation was used before, or is too old. Ask for another one.',
  welcome: 'Welcome. Choose how you sign in to the account',
  setUp: 'Set up your sign-in',
  usePassword: 'Use this password',
  makePasskey: 'Make a passkey',
  usePasskey: 'Sign in with a passkey',
  noPasskey: 'The browser used no passkey. Try again, or use a password.',
  badPasskey: 'This passkey is not good here, or the page was open too long. Try again.',
  newAccount: 'No account yet?',
  wrong: 'This name and this password do not belong together.',
  tooMany: 'There were too many attempts. Try again in a quarter of an hour.',
  expired: 'This page is too old, or was opened in another browser. Begin anew in your program.',
  badMode: 'This program asks for the answer in a way that there is not here.',
  forged:
    'This form is not from this site, or it is too old. Load the page anew and send it again.',
  badName:
    'A name is 1 to 64 small letters, digits and . _ - @, and begins with a letter or digit.',
  taken: 'This name is taken. Choose another one.',
  tooShort: 'The password needs at least 12 characters.',
  tooLong: 'The password must have at most 1,000 characters.',
  tooCommon: 'This password is too easy to guess. Choose another one.',
  asks: 'asks for access to your plants',
  returns: 'Afterwards your browser goes to',
  thisDevice: 'a program on this device',
  may: 'It may:',
  until: 'It keeps access until you take that away, or do not use it for 90 days.',
  unknown: 'Allow this only where you have just begun to connect it yourself.',
  allow: 'Allow',
  refuse: 'Refuse',
  failed: 'This did not work',
  elsewhere: 'People sign in at the address of this service, which is another one than this.',
  scopes: {} as Readonly<Record<string, string>>,
};

const fr: typeof en = {
  ...SETTINGS_TEXTS.fr,
  signIn: 'Se connecter',
  signUp: 'Créer un compte',
  signOut: 'Se déconnecter',
  name: 'Nom',
  password: 'Mot de passe',
  newPassword: 'Nouveau mot de passe, 12 caractères au moins',
  signedIn: 'Vous êtes connecté en tant que',
  ready: 'Votre compte est prêt',
  goOn: 'Retournez à votre programme, ou allez à vos réglages :',
  again: 'Pour cela, reconnectez-vous : la dernière connexion date de plus d’une heure.',
  noInvitation: 'Il faut une invitation pour créer un compte ici. Demandez-en une.',
  badInvitation: 'Cette invitation a déjà servi, ou elle est trop ancienne. Demandez-en une autre.',
  welcome: 'Bienvenue. Choisissez comment vous connecter au compte',
  setUp: 'Préparer votre connexion',
  usePassword: 'Utiliser ce mot de passe',
  makePasskey: 'Créer une clé d’accès',
  usePasskey: 'Se connecter avec une clé d’accès',
  noPasskey: 'Le navigateur n’a pas utilisé de clé d’accès. Réessayez, ou prenez un mot de passe.',
  badPasskey:
    'Cette clé d’accès n’est pas valable ici, ou la page est restée ouverte trop longtemps. Réessayez.',
  newAccount: 'Pas encore de compte ?',
  wrong: 'Ce nom et ce mot de passe ne vont pas ensemble.',
  tooMany: 'Trop de tentatives. Réessayez dans un quart d’heure.',
  expired:
    'Cette page est trop ancienne, ou vient d’un autre navigateur. Recommencez dans votre programme.',
  badMode: 'Ce programme demande une forme de réponse qui n’existe pas ici.',
  forged:
    'Ce formulaire ne vient pas de ce site, ou il est trop ancien. Rechargez la page et renvoyez-le.',
  badName:
    'Un nom compte 1 à 64 lettres minuscules, chiffres et . _ - @, et commence par une lettre ou un chiffre.',
  taken: 'Ce nom est pris. Choisissez-en un autre.',
  tooShort: 'Le mot de passe doit compter au moins 12 caractères.',
  tooLong: 'Le mot de passe doit compter au plus 1 000 caractères.',
  tooCommon: 'Ce mot de passe est trop facile à deviner. Choisissez-en un autre.',
  asks: 'demande l’accès à vos plantes',
  returns: 'Ensuite votre navigateur ira à',
  thisDevice: 'un programme sur cet appareil',
  may: 'Il pourra :',
  until: 'L’accès reste ouvert jusqu’à ce que vous le retiriez, ou après 90 jours sans usage.',
  unknown: 'N’acceptez que si vous venez de commencer cette connexion vous-même.',
  allow: 'Accepter',
  refuse: 'Refuser',
  failed: 'Cela n’a pas fonctionné',
  elsewhere: 'On se connecte à l’adresse de ce service, qui n’est pas celle-ci.',
  scopes: {
    'plants:read': 'lire les plantes, leurs événements et leurs photos',
    'plants:write': 'ajouter, changer et enlever des plantes et des photos',
    'events:write': 'noter, changer et enlever des événements',
    'insights:read': 'lire les statistiques',
    account: 'créer et révoquer des jetons, exporter les données, supprimer le compte',
  },
};

export type Texts = typeof en;
export const TEXTS: Readonly<Record<Language, Texts>> = { en, fr };

/** What pages say that is a sentence by itself, such as why something is refused. */
export type Sentence = Exclude<keyof Texts, 'scopes' | 'done'>;

/** Why a page refuses what was sent, in words of the person's language. */
export class PageFault extends Error {
  constructor(
    readonly sentence: Sentence,
    readonly status = 400,
  ) {
    super(sentence);
  }
}
