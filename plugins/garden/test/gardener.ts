import type { TestService, TestUser } from '../../../test/support/service';
import { Browser, type Page, PASSWORD, person } from '../../../test/support/signed-in';

/** A person with a token and a browser in which they are signed in. */
export interface Gardener extends TestUser {
  browser: Browser;
  /** Opens a page. */
  open(path?: string, headers?: Record<string, string>): Promise<Page>;
  /** Presses a button of a page, which is that of the plant or entry in whose form the text is. */
  press(page: Page, action: string, options?: PressOptions): Promise<Page>;
}

interface PressOptions {
  /** A part of the form. */
  of?: string;
  /** What is filled in. */
  fields?: Record<string, string>;
  /** Whether redirects are followed. */
  follow?: boolean;
  headers?: Record<string, string>;
  /** What happens before the end of the form arrives. */
  late?: () => Promise<unknown>;
}

export async function gardener(service: TestService): Promise<Gardener> {
  const user = await service.user();
  await person(service, user.id);
  const browser = new Browser(service.url);
  await browser.submit(await browser.go('/sign-in'), { name: user.id, password: PASSWORD });
  return {
    ...user,
    browser,
    open: (path = '/garden', headers = {}) => browser.go(path, { headers }),
    press: (page, action, options) => pressIn(browser, page, action, options),
  };
}

/** Presses a button of a page in a browser. */
export function pressIn(
  browser: Browser,
  page: Page,
  action: string,
  { of = '', fields = {}, follow = true, headers = {}, late }: PressOptions = {},
): Promise<Page> {
  const form = formsOf(page.text).find(
    (each) => each.includes(`name="action" value="${action}"`) && each.includes(of),
  );
  if (form === undefined) throw new Error(`There is no ${action} of ${of}: ${page.text}`);
  const body = new URLSearchParams({ action, ...fields });
  for (const [, name = '', value = ''] of form.matchAll(HIDDEN)) body.append(name, value);
  const [, path = ''] = /action="([^"]*)"/.exec(form) ?? [];
  if (!late) return browser.go(path, { method: 'POST', body, follow, headers });
  const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const streamed = { body: slowly(body.toString(), late), duplex: 'half' as const };
  return browser.go(path, {
    method: 'POST',
    ...streamed,
    follow,
    headers: { ...headers, ...type },
  });
}

/** A body whose last character comes after something else. */
function slowly(body: string, late: () => Promise<unknown>): ReadableStream {
  return new ReadableStream({
    start: async (stream) => {
      stream.enqueue(Buffer.from(body.slice(0, -1)));
      await late();
      stream.enqueue(Buffer.from(body.slice(-1)));
      stream.close();
    },
  });
}

const HIDDEN = /<input type="hidden" name="([^"]*)" value="([^"]*)"/g;

function formsOf(page: string): string[] {
  return page.match(/<form [^]*?<\/form>/g) ?? [];
}

/** What a page says, without its markup. */
export function textOf({ text }: Page): string {
  return text
    .replace(/<(head|header)>[^]*?<\/\1>/g, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** What just happened, as the page says. */
export function newsOf({ text }: Page): string | undefined {
  const [, news] = /id="news"[^]*?<div>([^]*?)<\/div>/.exec(text) ?? [];
  return news;
}
