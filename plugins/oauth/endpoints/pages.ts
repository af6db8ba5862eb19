import type { ProtocolEndpoint } from '../../../src/plugins/protocol-endpoint';
import { personalScopes } from '../../accounts';
import { answerConsent, consentPage } from '../pages/consent';
import { staticFile } from '../../pages';
import { PASSKEY_CODE, PASSKEY_SCRIPT } from '../pages/passkey-script';
import { signIn, signInPage } from '../pages/sign-in';
import { signUp, signUpPage } from '../pages/sign-up';
import { type IssuerSignIn, SIGN_IN, SIGNED_IN } from '../issuer/sign-in';
import { pagesOf, type Parts, PRIVATE_PAGES } from './method';
import { changeSettings, settingsPage } from '../settings/settings';

/** The pages for signing in, signing up and consent. */
export function signInPages(parts: Parts): ProtocolEndpoint[] {
  const { store, people, isOpen } = parts;
  const { page, form } = pagesOf(parts);
  const countsFailures = true;
  return [
    {
      path: '/oauth/consent/{uid}',
      methods: {
        GET: page('getConsentPage', 'Get the consent page', (request) =>
          consentPage(request, personalScopes(request.api.scopes)),
        ),
        POST: form('answerConsent', 'Allow or deny access (form)', (request) =>
          answerConsent(request, store, personalScopes(request.api.scopes)),
        ),
      },
    },
    {
      path: '/sign-in',
      methods: {
        GET: page('getSignInPage', 'Get the sign-in page', (request) =>
          signInPage(request, people, isOpen),
        ),
        POST: form('signIn', 'Sign in (form)', (request) => signIn(request, people, isOpen), {
          countsFailures,
        }),
      },
    },
    {
      path: '/sign-up',
      methods: {
        GET: {
          ...page(
            'getSignUpPage',
            'Get the sign-up page',
            (request) => signUpPage(request, people, isOpen),
            { countsFailures },
          ),
          responses: PRIVATE_PAGES,
        },
        POST: form(
          'signUp',
          'Create an account, or set how to sign in to it (form)',
          (request) => signUp(request, people, isOpen),
          { countsFailures },
        ),
      },
    },
  ];
}

/** The only script of the pages. */
export const passkeyScript = staticFile(PASSKEY_SCRIPT, {
  operationId: 'getPasskeyScript',
  summary: 'Get the script for passkeys',
  type: 'text/javascript',
  text: PASSKEY_CODE,
});

/** The settings. */
export function settingsPages(parts: Parts): ProtocolEndpoint[] {
  const { page, form } = pagesOf(parts);
  return [
    {
      path: '/settings',
      methods: {
        GET: page('getSettingsPage', 'Get the settings page', (request) =>
          settingsPage(request, parts),
        ),
        POST: form('changeSettings', 'Submit a form of the settings', (request) =>
          changeSettings(request, parts),
        ),
      },
    },
  ];
}

/** Signing in to the settings at an issuer. */
export function issuerPages(parts: Parts, signIn: IssuerSignIn): ProtocolEndpoint[] {
  const { page } = pagesOf(parts);
  const begin = page('beginIssuerSignIn', 'Sign in at the issuer', (request) =>
    signIn.begin(request),
  );
  const finish = page('finishIssuerSignIn', 'Return from the issuer', (request) =>
    signIn.finish(request),
  );
  return [
    { path: SIGN_IN, methods: { GET: begin } },
    { path: SIGNED_IN, methods: { GET: finish } },
  ];
}
