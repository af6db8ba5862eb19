import { markup } from '../../pages';
import type { LinkKind, MailLink } from '../mail/links';
import type { Mails } from '../mail/mails';
import type { BrowserRequest } from './browser-request';
import { PageFault } from './texts';

/** What the link of a mail is good for. Wrong ones count as failures of the address. @throws PageFault */
export async function linkOf(
  { api, ctx }: BrowserRequest,
  { links }: Mails,
  kind: LinkKind,
  secret: string,
): Promise<MailLink> {
  await api.refuseSpent(ctx);
  try {
    return await links.find(kind, secret);
  } catch (error) {
    if (error instanceof PageFault) await api.recordFailure(ctx);
    throw error;
  }
}

/** Shows that something is done, with the way to the settings. */
export function showReady(request: BrowserRequest, title: string): void {
  const { texts } = request;
  request.show(title, markup`<p>${texts.goOn} <a href="/settings">${texts.settings}</a></p>`);
}
