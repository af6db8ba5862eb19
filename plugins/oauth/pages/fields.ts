import { type Html, markup } from '../../pages';
import type { Sentence, Texts } from './texts';

/** The fields that faults are about, by their ids. */
const FIELDS: Readonly<Partial<Record<Sentence, string>>> = {
  ...{ wrong: 'name', badName: 'name', taken: 'name' },
  ...{ tooShort: 'password', tooLong: 'password', tooCommon: 'password', wrongNow: 'now' },
  ...{ badTokenName: 'token-name', noScope: 'token-scopes', notYourName: 'confirm' },
};

/** Why a form was refused: read out first, with a link to the field that it is about. */
export function faultSummary(texts: Texts, fault: Sentence | undefined): Html | undefined {
  if (fault === undefined) return undefined;
  const field = FIELDS[fault];
  const sentence = texts[fault];
  return markup`<p class="fault" role="alert" tabindex="-1" autofocus>
    ${field === undefined ? sentence : markup`<a href="#${field}">${sentence}</a>`}
  </p>`;
}

/** Whether a field is the one that was not good, for who cannot see which one is meant. */
export function invalidIf(fault: Sentence | undefined, field: string): Html | undefined {
  const isFaulty = fault !== undefined && FIELDS[fault] === field;
  return isFaulty ? markup` aria-invalid="true"` : undefined;
}

export function nameField(texts: Texts, name: string, fault: Sentence | undefined): Html {
  return markup`<label for="name">${texts.name}</label>
    <input
      id="name"
      name="name"
      value="${name}"
      autocomplete="username"
      autocapitalize="none"
      spellcheck="false"
      maxlength="128"
      required${invalidIf(fault, 'name')}
    />`;
}

export function newPasswordField(texts: Texts, fault: Sentence | undefined): Html {
  return markup`<label for="password">${texts.newPassword}</label>
    <input
      id="password"
      type="password"
      name="password"
      autocomplete="new-password"
      minlength="12"
      required${invalidIf(fault, 'password')}
    />`;
}
