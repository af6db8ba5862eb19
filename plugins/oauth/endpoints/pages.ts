import type { ProtocolEndpoint } from '../../../src/plugins/protocol-endpoint';
import { personalScopes } from '../../accounts';
import { answerConsent, consentPage } from '../pages/consent';
import { staticFile } from '../../pages';
import { PASSKEY_CODE, PASSKEY_SCRIPT } from '../pages/passkey-script';
import { signIn, signInPage } from '../pages/sign-in';
import { signUp, signUpPage } from '../pages/sign-up';
import { type IssuerSignIn, SIGN_IN, SIGNED_IN } from '../issuer/sign-in';
import { pagesOf, type Parts } from './method';
import { changeSettings, settingsPage } from '../settings/settings';

/** What people see who sign in here. */
export function signInPages(parts: Parts): ProtocolEndpoint[] {
  const { store, people, isOpen } = parts;
  const page = pagesOf(parts);
  return [
    {
      path: '/oauth/consent/{uid}',
      methods: {
        GET: page('getConsentPage', 'The page that asks whether a program is let in', (visit) =>
          consentPage(visit, personalScopes(visit.api.scopes)),
        ),
        POST: page('answerConsent', 'Let a program in, or refuse (form)', (visit) =>
          answerConsent(visit, store, personalScopes(visit.api.scopes)),
        ),
      },
    },
    {
      path: '/sign-in',
      methods: {
        GET: page('getSignInPage', 'The page by which people sign in', (visit) =>
          signInPage(visit, people, isOpen),
        ),
        POST: page('signIn', 'Sign in (form)', (visit) => signIn(visit, people, isOpen)),
      },
    },
    {
      path: '/sign-up',
      methods: {
        GET: page('getSignUpPage', 'The page by which people make an account', (visit) =>
          signUpPage(visit, people, isOpen),
        ),
        POST: page('signUp', 'Make an account, or set its password (form)', (visit) =>
          signUp(visit, people, isOpen),
        ),
      },
    },
  ];
}

/** The one script of the pages. */
export const passkeyScript = staticFile(PASSKEY_SCRIPT, {
  operationId: 'getPasskeyScript',
  summary: 'What has browsers use passkeys',
  type: 'text/javascript',
  text: PASSKEY_CODE,
});

/** What people see who are signed in. */
export function settingsPages(parts: Parts): ProtocolEndpoint[] {
  const page = pagesOf(parts);
  return [
    {
      path: '/settings',
      methods: {
        GET: page('getSettingsPage', 'The settings of who is signed in', (visit) =>
          settingsPage(visit, parts),
        ),
        POST: page('changeSettings', 'Do what a form of the settings says', (visit) =>
          changeSettings(visit, parts),
        ),
      },
    },
  ];
}

/** Where people sign in to their settings at an issuer. */
export function issuerPages(parts: Parts, signIn: IssuerSignIn): ProtocolEndpoint[] {
  const page = pagesOf(parts);
  const begin = page('beginIssuerSignIn', 'Sign in at the issuer', (visit) => signIn.begin(visit));
  const finish = page('finishIssuerSignIn', 'Come back from the issuer', (visit) =>
    signIn.finish(visit),
  );
  return [
    { path: SIGN_IN, methods: { GET: begin } },
    { path: SIGNED_IN, methods: { GET: finish } },
  ];
}
