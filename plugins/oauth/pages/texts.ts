import type { Language } from '../../pages';
import { SETTINGS_TEXTS } from '../settings/texts';
import { EMAIL_TEXTS } from './email-texts';
import { GARDEN_TEXTS } from './garden-texts';

/** The texts of the pages. */
const en = {
  ...SETTINGS_TEXTS.en,
  ...EMAIL_TEXTS.en,
  ...GARDEN_TEXTS.en,
  signIn: 'Sign in',
  signUp: 'Create an account',
  signOut: 'Sign out',
  name: 'Name',
  password: 'Password',
  newPassword: 'New password, at least 12 characters',
  signedIn: 'You are signed in as',
  ready: 'Your account is ready',
  goOn: 'Return to your app, or go to your settings:',
  again: 'Sign in again to do this: you last signed in more than an hour ago.',
  noInvitation: 'You need an invitation to create an account here.',
  badInvitation: 'This invitation has expired or was already used. Ask for a new one.',
  badLink:
    'This link has expired, was already used, or is of another machine. Sign in with your name.',
  welcome: 'Welcome! Choose how to sign in to the account',
  setUp: 'Set up sign-in',
  usePassword: 'Use this password',
  makePasskey: 'Create a passkey',
  usePasskey: 'Sign in with a passkey',
  noPasskey: 'No passkey was used. Try again, or use a password.',
  badPasskey: 'This passkey was not accepted, or the page was open for too long. Try again.',
  newAccount: 'No account yet?',
  wrong: 'Wrong name or password.',
  tooFast: 'Too many attempts. Try again in a minute.',
  tooMany: 'Too many attempts. Try again in 15 minutes.',
  busy: 'Too many people are signing in. Try again in a moment.',
  tooManySignUps: 'Too many accounts were created from your network. Try again in an hour.',
  expired: 'This page has expired, or belongs to another browser. Start again in your app.',
  requestRefused: 'The request of this app was refused:',
  unreachable:
    'This server could not fetch the document that describes this app. If the server cannot reach other hosts, its operator should set CLIENT_METADATA_DOCUMENTS=false. Then connect the app again.',
  badMode: 'This app requests a response mode that is not supported.',
  forged: 'This form has expired, or comes from another site. Reload the page and try again.',
  badName: 'Use 1 to 64 lowercase letters, digits and . _ - @, and begin with a letter or a digit.',
  taken: 'This name is taken. Choose another one.',
  tooShort: 'Use at least 12 characters for the password.',
  tooLong: 'Use at most 1,000 characters for the password.',
  tooCommon: 'This password is too easy to guess. Choose another one.',
  asks: 'wants access to your plants',
  returns: 'Your browser will then go to',
  returnsToHost: 'Verified: your browser will then go to',
  describedBy: 'Verified: this app is published by',
  ownName: 'Not verified: the app chose its name itself.',
  unnamed: 'An unnamed app',
  thisDevice: 'an app on this device',
  may: 'Allow it to:',
  garden: 'Garden',
  ownGarden: 'Your own garden',
  allGardens: 'All gardens that are open to you',
  asYou: 'In the garden of another it may do no more than you.',
  until: 'It keeps access until you revoke it in your settings, or do not use it for 90 days.',
  unknown: 'Allow this only if you have just started connecting this app yourself.',
  allow: 'Allow',
  refuse: 'Deny',
  failed: 'Something went wrong',
  unavailable: 'This does not work at the moment. Try again shortly.',
  elsewhere: 'This is not the address at which people sign in to this service.',
  scopes: {
    'plants:read': 'read plants, events and photos',
    'plants:write': 'add, change and delete plants and photos',
    'events:write': 'log, change and delete events',
    'insights:read': 'read statistics',
    account: 'create and revoke tokens, export your data and delete your account',
  } as Readonly<Record<string, string>>,
};

const fr: typeof en = {
  ...SETTINGS_TEXTS.fr,
  ...EMAIL_TEXTS.fr,
  ...GARDEN_TEXTS.fr,
  signIn: 'Se connecter',
  signUp: 'Créer un compte',
  signOut: 'Se déconnecter',
  name: 'Nom',
  password: 'Mot de passe',
  newPassword: 'Nouveau mot de passe, 12 caractères au moins',
  signedIn: 'Vous êtes connecté en tant que',
  ready: 'Votre compte est prêt',
  goOn: 'Retournez à votre application, ou ouvrez vos réglages :',
  again: 'Reconnectez-vous pour continuer : votre dernière connexion date de plus d’une heure.',
  noInvitation: 'Il faut une invitation pour créer un compte ici.',
  badInvitation: 'Cette invitation a expiré ou a déjà servi. Demandez-en une nouvelle.',
  badLink:
    'Ce lien a expiré, a déjà servi, ou vient d’une autre machine. Connectez-vous avec votre nom.',
  welcome: 'Bienvenue ! Choisissez comment vous connecter au compte',
  setUp: 'Configurer la connexion',
  usePassword: 'Utiliser ce mot de passe',
  makePasskey: 'Créer une clé d’accès',
  usePasskey: 'Se connecter avec une clé d’accès',
  noPasskey: 'Aucune clé d’accès n’a été utilisée. Réessayez, ou utilisez un mot de passe.',
  badPasskey:
    'Cette clé d’accès n’a pas été acceptée, ou la page est restée ouverte trop longtemps. Réessayez.',
  newAccount: 'Pas encore de compte ?',
  wrong: 'Nom ou mot de passe incorrect.',
  tooFast: 'Trop de tentatives. Réessayez dans une minute.',
  tooMany: 'Trop de tentatives. Réessayez dans 15 minutes.',
  busy: 'Trop de personnes se connectent. Réessayez dans un instant.',
  tooManySignUps: 'Trop de comptes ont été créés depuis votre réseau. Réessayez dans une heure.',
  expired:
    'Cette page a expiré, ou appartient à un autre navigateur. Recommencez dans votre application.',
  requestRefused: 'La demande de cette application a été refusée :',
  unreachable:
    'Ce serveur n’a pas pu télécharger le document qui décrit cette application. S’il n’a pas accès à d’autres hôtes, son exploitant doit régler CLIENT_METADATA_DOCUMENTS=false. Reconnectez ensuite l’application.',
  badMode: 'Cette application demande un mode de réponse qui n’est pas pris en charge.',
  forged: 'Ce formulaire a expiré, ou vient d’un autre site. Rechargez la page et réessayez.',
  badName:
    'Utilisez 1 à 64 lettres minuscules, chiffres et . _ - @, en commençant par une lettre ou un chiffre.',
  taken: 'Ce nom est déjà pris. Choisissez-en un autre.',
  tooShort: 'Le mot de passe doit comporter au moins 12 caractères.',
  tooLong: 'Le mot de passe doit comporter au plus 1 000 caractères.',
  tooCommon: 'Ce mot de passe est trop facile à deviner. Choisissez-en un autre.',
  asks: 'demande à accéder à vos plantes',
  returns: 'Votre navigateur ira ensuite vers',
  returnsToHost: 'Vérifié : votre navigateur ira ensuite vers',
  describedBy: 'Vérifié : cette application est publiée par',
  ownName: 'Non vérifié : l’application a choisi son nom elle-même.',
  unnamed: 'Une application sans nom',
  thisDevice: 'une application sur cet appareil',
  may: 'Autoriser à :',
  garden: 'Jardin',
  ownGarden: 'Votre propre jardin',
  allGardens: 'Tous les jardins qui vous sont ouverts',
  asYou: 'Dans le jardin d’une autre personne, elle n’aura pas plus de droits que vous.',
  until:
    'Elle garde cet accès jusqu’à ce que vous le révoquiez dans vos réglages, ou après 90 jours sans utilisation.',
  unknown: 'N’acceptez que si vous venez vous-même de connecter cette application.',
  allow: 'Accepter',
  refuse: 'Refuser',
  failed: 'Une erreur est survenue',
  unavailable: 'Cela ne fonctionne pas pour le moment. Réessayez dans un instant.',
  elsewhere: 'Ce n’est pas à cette adresse que l’on se connecte à ce service.',
  scopes: {
    'plants:read': 'lire les plantes, leurs événements et leurs photos',
    'plants:write': 'ajouter, modifier et supprimer des plantes et des photos',
    'events:write': 'noter, modifier et supprimer des événements',
    'insights:read': 'lire les statistiques',
    account: 'créer et révoquer des jetons, exporter vos données et supprimer votre compte',
  },
};

export type Texts = typeof en;
export const TEXTS: Readonly<Record<Language, Texts>> = { en, fr };

/** Names of texts that are sentences, such as why something is refused. */
export type Sentence = Exclude<keyof Texts, 'scopes' | 'done' | 'roles' | 'roleNames'>;

/** A refusal that a page shows in the person's language. */
export class PageFault extends Error {
  readonly headers: Readonly<Record<string, string>>;

  /** @param retryAfter after how many seconds another try may succeed, if a budget is spent */
  constructor(
    readonly sentence: Sentence,
    readonly status = 400,
    retryAfter?: number,
  ) {
    super(sentence);
    this.headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  }
}
