import { markup } from '../../pages';
import type { Parts } from '../endpoints/method';
import type { BrowserRequest } from './browser-request';
import { accountField, faultSummary, newPasswordField, passkeyButton } from './fields';
import { linkOf, showReady } from './links';
import { PASSKEY_SCRIPT } from './passkey-script';
import type { Sentence } from './texts';

/** Shows the page on which the link of a mail sets a new way to sign in; the link stays good. */
export async function recoverPage(request: BrowserRequest, parts: Parts): Promise<void> {
  const secret = String(request.ctx.query['link'] ?? '');
  const { account } = await linkOf(request, parts.mails, 'Recovery', secret);
  await showForm(request, parts, { secret, account });
}

/** Sets a new way to sign in, and signs the person in. */
export async function recover(request: BrowserRequest, parts: Parts): Promise<void> {
  const { page, browser } = request;
  const { people, mails } = parts;
  const form = await request.form();
  const secret = form.get('link') ?? '';
  const { account } = await linkOf(request, mails, 'Recovery', secret);
  const passkey = form.get('passkey') ?? '';
  const endsTokens = form.get('tokens') === 'end';
  try {
    const credential =
      passkey === ''
        ? { password: form.get('password') ?? '' }
        : { passkey: await people.passkeys.verifyRegistration(page, account, passkey, browser) };
    await people.recover(secret, credential, endsTokens, request.acting(account));
  } catch (error) {
    const { sentence: fault, status } = request.faultOf(error);
    await showForm(request, parts, { secret, account, fault, status, endsTokens });
    return;
  }
  await request.signIn(account);
  showReady(request, request.texts.ready);
}

interface RecoverForm {
  secret: string;
  account: string;
  fault?: Sentence;
  status?: number;
  endsTokens?: boolean;
}

async function showForm(
  request: BrowserRequest,
  { people }: Parts,
  { secret, account, fault, status = 200, endsTokens = false }: RecoverForm,
): Promise<void> {
  const { texts } = request;
  const options = await people.passkeys.registrationOptions(request.page, account);
  const content = markup`${faultSummary(texts, fault)}
    <p>${texts.recoverAbout} <strong>${account}</strong>.</p>
    <form method="post" action="/recover">
      ${request.csrfField()}
      <input type="hidden" name="link" value="${secret}" />
      ${accountField(account)} ${newPasswordField(texts, fault)}
      <label
        ><input type="checkbox" name="tokens" value="end" ${endsTokens && markup`checked`} />${
          texts.endTokens
        }</label
      >
      <button class="main">${texts.usePassword}</button>
      ${passkeyButton(texts, texts.makePasskey, options)}
    </form>`;
  request.show(texts.recover, content, { status, script: options && PASSKEY_SCRIPT });
}
