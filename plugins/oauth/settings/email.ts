import { type Html, markup } from '../../pages';
import type { BrowserRequest } from '../pages/browser-request';
import { emailField } from '../pages/fields';
import type { Sentence } from '../pages/texts';
import { disclosure, list } from './parts';

const FAULTS: readonly Sentence[] = ['badEmail', 'tooManyMails'];

/**
 * The part of the settings with the address of the account; null if it has none.
 *
 * @param form what was refused
 */
export function emailPart(
  request: BrowserRequest,
  address: string | null,
  { fault, form }: { fault?: Sentence; form?: URLSearchParams },
): Html {
  const { texts } = request;
  const isFaulty = fault !== undefined && FAULTS.includes(fault);
  const typed = (isFaulty && form?.get('email')) || '';
  const fields = emailField(texts.email, typed, fault, true);
  const entries = address === null ? [] : [{ id: '', title: address, details: [] }];
  const title = address === null ? texts.setEmail : texts.changeEmail;
  return markup`<h2>${texts.email}</h2>
    <p>${texts.emailAbout}</p>
    ${list(request, 'removeEmail', texts.remove, entries)}
    ${disclosure(request, 'setEmail', title, fields, { isOpen: isFaulty })}`;
}
