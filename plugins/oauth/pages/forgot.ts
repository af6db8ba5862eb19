import { markup } from '../../pages';
import type { Mails } from '../mail/mails';
import type { BrowserRequest } from './browser-request';
import { AS_TYPED, field } from './fields';

/** Shows the page on which a person asks for a way back in. */
export async function forgotPage(request: BrowserRequest): Promise<void> {
  const { texts } = request;
  const kind = markup`name="name" maxlength="254" autocomplete="username" ${AS_TYPED}`;
  const content = markup`<p>${texts.forgotAbout}</p>
    <form method="post" action="/forgot">
      ${request.csrfField()} ${field('name', texts.nameOrEmail, kind, undefined)}
      <button class="main">${texts.sendLink}</button>
    </form>`;
  request.show(texts.forgot, content);
}

/** Sends a way back in to whom it belongs; the response is the same for everybody. */
export async function forgot(request: BrowserRequest, mails: Mails): Promise<void> {
  const { texts } = request;
  const form = await request.form();
  await mails.recover((form.get('name') ?? '').trim());
  request.show(texts.linkSent, markup`<p role="status">${texts.linkSentAbout}</p>`);
}
