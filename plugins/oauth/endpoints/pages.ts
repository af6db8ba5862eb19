import { notFound } from '../../../src/core/errors';
import type { ProtocolEndpoint, ProtocolMethod } from '../../../src/plugins/protocol-endpoint';
import { personalScopes } from '../../accounts';
import { answerConsent, consentPage } from '../pages/consent';
import { signIn, signInPage, signOut } from '../pages/sign-in';
import { signUp, signUpPage } from '../pages/sign-up';
import { Visit } from '../pages/visit';
import { access, PAGES, type Parts, serverFor, withFaultsShown } from './method';

/** What people see who sign in here. */
export function signInPages(parts: Parts): ProtocolEndpoint[] {
  const { store, people, isOpen } = parts;

  /** A page, or what its form does. */
  const page = (
    operationId: string,
    summary: string,
    show: (visit: Visit) => Promise<void>,
  ): ProtocolMethod => ({
    ...{ operationId, summary, access },
    responses: PAGES,
    errors: [notFound],
    handler: (ctx, api) =>
      withFaultsShown(ctx, async () => {
        const { origin, provider } = await serverFor(ctx, parts);
        await show(new Visit(ctx, api, origin, provider));
      }),
  });

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
          signInPage(visit, isOpen),
        ),
        POST: page('signIn', 'Sign in (form)', (visit) => signIn(visit, people, isOpen)),
      },
    },
    { path: '/sign-out', methods: { POST: page('signOut', 'Sign out (form)', signOut) } },
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
