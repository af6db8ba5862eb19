import { type Html, markup } from '../../pages';
import type { Sentence, Texts } from './texts';

/** The ids of the fields that faults are about. */
const FIELDS: Readonly<Partial<Record<Sentence, string>>> = {
  wrong: 'name',
  badName: 'name',
  taken: 'name',
  tooShort: 'password',
  tooLong: 'password',
  tooCommon: 'password',
  wrongNow: 'now',
  badTokenName: 'token-name',
  noScope: 'token-scopes',
  notYourName: 'confirm',
  badEmail: 'email',
  tooManyMails: 'email',
};

/** Why a form was refused, with a link to its field; screen readers read it first. */
export function faultSummary(texts: Texts, fault: Sentence | undefined): Html | undefined {
  if (fault === undefined) return undefined;
  const field = FIELDS[fault];
  const sentence = texts[fault];
  return markup`<p class="fault" role="alert" tabindex="-1" autofocus>
    ${field === undefined ? sentence : markup`<a href="#${field}">${sentence}</a>`}
  </p>`;
}

/** A field with its label. */
export function field(
  id: string,
  label: string | Html,
  attributes: Html,
  fault: Sentence | undefined,
  isRequired = true,
): Html {
  const isFaulty = fault !== undefined && FIELDS[fault] === id;
  return markup`<label for="${id}">${label}</label>
    <input id="${id}" ${isRequired && markup`required`} ${isFaulty && markup`aria-invalid="true"`} ${attributes} />`;
}

/** The paths of pages to which a person may return after signing in: those of this very origin. */
const RETURN = /^(?:\/[\w.~@%-]{1,200}){1,4}$/;

/** The page to return to after signing in, if the parameter or field `return` names one. */
export function returnOf(given: unknown): string | undefined {
  if (typeof given !== 'string' || !RETURN.test(given)) return undefined;
  // Dot segments lead elsewhere, also percent-encoded ones.
  return new URL(given, 'http://localhost').pathname === given ? given : undefined;
}

export function returnField(to: string | undefined): Html | undefined {
  return to === undefined ? undefined : markup`<input type="hidden" name="return" value="${to}" />`;
}

export const AS_TYPED = markup`autocapitalize="none" spellcheck="false"`;

export function nameField(texts: Texts, name: string, fault: Sentence | undefined): Html {
  const given = markup`name="name" value="${name}" maxlength="128"`;
  return field('name', texts.name, markup`${given} autocomplete="username" ${AS_TYPED}`, fault);
}

export function emailField(
  label: string,
  email: string,
  fault: Sentence | undefined,
  isRequired: boolean,
): Html {
  const kind = markup`name="email" type="email" value="${email}" maxlength="254" autocomplete="email"`;
  return field('email', label, kind, fault, isRequired);
}

/** A field in which a person repeats a name to confirm. */
export function confirmField(label: Html, fault: Sentence | undefined): Html {
  return field('confirm', label, markup`name="confirm" autocomplete="off" ${AS_TYPED}`, fault);
}

/** A field for an existing password. */
export function passwordField(id: string, label: string, fault?: Sentence): Html {
  const kind = markup`name="${id}" type="password" autocomplete="current-password"`;
  return field(id, label, kind, fault);
}

export function newPasswordField(texts: Texts, fault: Sentence | undefined): Html {
  const kind = markup`name="password" type="password" autocomplete="new-password" minlength="12"`;
  return field('password', texts.newPassword, kind, fault);
}

/** Tells password managers which account a password belongs to. */
export function accountField(account: string): Html {
  return markup`<input hidden name="username" value="${account}" autocomplete="username" />`;
}

/** A button that the script shows if the browser supports passkeys, with a message for failures. */
export function passkeyButton(texts: Texts, label: string, options: string | undefined) {
  if (options === undefined) return undefined;
  return markup`<input type="hidden" name="passkey" />
    <button type="button" data-passkey="${options}" hidden>${label}</button>
    <p class="fault" role="alert" hidden>${texts.noPasskey}</p>`;
}
