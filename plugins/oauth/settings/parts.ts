import { type Html, markup } from '../../pages';
import type { BrowserRequest } from '../pages/browser-request';

/** An entry of a list. */
interface Entry {
  id: string;
  title: string;
  details: readonly string[];
}

/** A list whose entries have a button each. */
export function list(
  request: BrowserRequest,
  action: string,
  button: string,
  entries: readonly Entry[],
): Html {
  if (entries.length === 0) return markup`<p>${request.texts.none}</p>`;
  const items = entries.map(({ id, title, details }) => {
    const fields = markup`<input type="hidden" name="id" value="${id}" />
      <button aria-label="${button}: ${title}">${button}</button>`;
    return markup`<li class="entry">
      <div><strong>${title}</strong><br />${details.join(' · ')}</div>
      ${formOf(request, action, fields)}
    </li>`;
  });
  return markup`<ul role="list">
    ${items}
  </ul>`;
}

/** A form that is collapsed until it is needed. */
export function disclosure(
  request: BrowserRequest,
  action: string,
  title: string,
  fields: Html,
  { isOpen, kind = 'main' }: { isOpen: boolean; kind?: string },
): Html {
  const content = markup`${fields} <button class="${kind}">${title}</button>`;
  return markup`<details ${isOpen && markup`open`}>
    <summary>${title}</summary>
    ${formOf(request, action, content)}
  </details>`;
}

export function formOf(
  request: BrowserRequest,
  action: string,
  content: Html | undefined,
): Html | undefined {
  return (
    content &&
    markup`<form method="post" action="/settings">
      ${request.csrfField()}
      <input type="hidden" name="action" value="${action}" />
      ${content}
    </form>`
  );
}

/** Returns a function that formats dates in the person's language and time zone. */
export function dates(
  { language }: BrowserRequest,
  timeZone: string,
  options: Intl.DateTimeFormatOptions = {},
): (date: Date) => string {
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone, ...options });
  return (date) => format.format(date);
}
