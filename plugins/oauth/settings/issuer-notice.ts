import { type Html, markup } from '../../pages';
import { SIGN_IN } from '../issuer/sign-in';
import type { Issuer } from '../issuer/settings';
import type { Texts } from '../pages/texts';
import type { BrowserRequest } from '../pages/browser-request';

/** Says at which issuer the person signs in. */
export function issuerPart(texts: Texts, { name }: Issuer): Html {
  const { host } = new URL(name);
  return markup`<p>${texts.whereSignIn} <strong>${host}</strong>. ${texts.whereApps}</p>`;
}

/** Asks a person who is not signed in, or not recently enough, to sign in at the issuer. */
export function showIssuer(request: BrowserRequest, issuer: Issuer, isAgain: boolean): void {
  const { texts } = request;
  const signIn = `${SIGN_IN}?return=${request.ctx.path}`;
  const way =
    issuer.clientId === undefined ? texts.inApp : markup`<a href="${signIn}">${texts.signIn}</a>`;
  const content = markup`${isAgain && markup`<p>${texts.again}</p>`} ${issuerPart(texts, issuer)}
    <p>${way}</p>`;
  request.show(texts.signIn, content);
}
