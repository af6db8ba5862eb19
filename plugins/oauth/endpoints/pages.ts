import type { ProtocolEndpoint } from '../../../src/plugins/protocol-endpoint';
import { personalScopes } from '../../accounts';
import { answerConsent, consentPage } from '../pages/consent';
import { staticFile } from '../../pages';
import { confirmAddress, confirmAddressPage } from '../pages/confirm-address';
import { forgot, forgotPage } from '../pages/forgot';
import { JOIN, join, joinPage } from '../pages/join';
import { PASSKEY_CODE, PASSKEY_SCRIPT } from '../pages/passkey-script';
import { recover, recoverPage } from '../pages/recover';
import { signIn, signInPage } from '../pages/sign-in';
import { signUp, signUpPage } from '../pages/sign-up';
import { type IssuerSignIn, SIGN_IN, SIGNED_IN } from '../issuer/sign-in';
import { pagesOf, type Parts, PRIVATE_PAGES } from './method';
import { changeSettings, settingsPage } from '../settings/settings';

/** The pages for signing in, signing up and consent. */
export function signInPages(parts: Parts): ProtocolEndpoint[] {
  const { store } = parts;
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
        GET: page('getSignInPage', 'Get the sign-in page', (request) => signInPage(request, parts)),
        POST: form('signIn', 'Sign in (form)', (request) => signIn(request, parts), {
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
            (request) => signUpPage(request, parts),
            { countsFailures },
          ),
          responses: PRIVATE_PAGES,
        },
        POST: form(
          'signUp',
          'Create an account, or set how to sign in to it (form)',
          (request) => signUp(request, parts),
          { countsFailures },
        ),
      },
    },
  ];
}

/** The pages that let people back in. */
export function recoveryPages(parts: Parts): ProtocolEndpoint[] {
  const { page, form } = pagesOf(parts);
  const countsFailures = true;
  return [
    {
      path: '/forgot',
      methods: {
        GET: page('getForgotPage', 'Get the page for lost passwords and passkeys', forgotPage),
        POST: form('forgot', 'Send a way back in, if there is an address (form)', (request) =>
          forgot(request, parts.mails),
        ),
      },
    },
    {
      path: '/recover',
      methods: {
        GET: page(
          'getRecoverPage',
          'Get the page of a mailed link',
          (request) => recoverPage(request, parts),
          { countsFailures },
        ),
        POST: form(
          'recover',
          'Set how to sign in, with a mailed link (form)',
          (request) => recover(request, parts),
          { countsFailures },
        ),
      },
    },
  ];
}

/** The page that confirms an address. */
export function addressPages(parts: Parts): ProtocolEndpoint[] {
  const { page, form } = pagesOf(parts);
  const countsFailures = true;
  return [
    {
      path: '/confirm-address',
      methods: {
        GET: page(
          'getConfirmAddressPage',
          'Get the page that confirms an e-mail address',
          (request) => confirmAddressPage(request, parts.mails),
          { countsFailures },
        ),
        POST: form(
          'confirmAddress',
          'Confirm an e-mail address (form)',
          (request) => confirmAddress(request, parts.mails),
          { countsFailures },
        ),
      },
    },
  ];
}

/** The page on which a person joins the garden of another. */
export function joinPages(parts: Parts): ProtocolEndpoint {
  const { page, form } = pagesOf(parts);
  const countsFailures = true;
  return {
    path: JOIN,
    methods: {
      GET: page(
        'getJoinPage',
        'Get the page of an invitation to a garden',
        (request) => joinPage(request, parts),
        { countsFailures },
      ),
      POST: form('joinWithPage', 'Join a garden (form)', (request) => join(request, parts), {
        countsFailures,
      }),
    },
  };
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
