import { markup } from '../../pages';
import type { Mails } from '../mail/mails';
import type { BrowserRequest } from './browser-request';
import { linkOf, showReady } from './links';

/** Shows the page with the button that confirms an address: scanners of mail open links, too. */
export async function confirmAddressPage(request: BrowserRequest, mails: Mails): Promise<void> {
  const { texts, ctx } = request;
  const secret = String(ctx.query['link'] ?? '');
  const { account, address } = await linkOf(request, mails, 'Confirmation', secret);
  const content = markup`<p>${texts.confirmAbout}</p>
    <p><strong>${address}</strong> – <strong>${account}</strong></p>
    <form method="post" action="/confirm-address">
      ${request.csrfField()}
      <input type="hidden" name="link" value="${secret}" />
      <button class="main">${texts.confirm}</button>
    </form>`;
  request.show(texts.confirmEmail, content);
}

export async function confirmAddress(request: BrowserRequest, mails: Mails): Promise<void> {
  const form = await request.form();
  const secret = form.get('link') ?? '';
  const { account } = await linkOf(request, mails, 'Confirmation', secret);
  await mails.confirmed(secret, request.acting(account));
  showReady(request, request.texts.emailConfirmed);
}
