import type { NamedGarden } from '../../../src/core/identity';
import type { OwnToken } from '../../accounts';
import { type Html, markup } from '../../pages';
import {
  accountField,
  confirmField,
  faultSummary,
  field,
  newPasswordField,
  passkeyButton,
  passwordField,
} from '../pages/fields';
import { gardenField, gardenText } from '../pages/gardens';
import { PASSKEY_SCRIPT } from '../pages/passkey-script';
import type { Sentence, Texts } from '../pages/texts';
import type { BrowserRequest } from '../pages/browser-request';
import type { Passkey } from '../state/model';
import type { SessionView } from '../state/sessions';
import type { AuthorizedApp } from '../state/store';
import type { Issuer } from '../issuer/settings';
import { emailPart } from './email';
import { issuerPart } from './issuer-notice';
import { type Sharing, sharingPart } from './sharing';
import { dates, disclosure, formOf, list } from './parts';

/** The lifetimes of a token to choose from, in days; the last is the default. */
export const TOKEN_DAYS = [7, 30, 90, 365];

/** What the settings page shows. */
export interface Settings {
  account: string;
  /** IANA name. */
  timezone: string;
  tokens: readonly OwnToken[];
  apps: readonly AuthorizedApp[];
  passkeys: readonly Passkey[];
  /** Options for creating another one; undefined if passkeys cannot be used here. */
  newPasskey: string | undefined;
  hasPassword: boolean;
  /** Where the person signs in, if not here. */
  issuer: Issuer | undefined;
  /** The confirmed e-mail address; null if there is none, undefined if there is no e-mail here. */
  email: string | null | undefined;
  sessions: readonly SessionView[];
  /** The id of this browser's session. */
  here: string;
  /** The gardens that the person may open, their own first. */
  gardens: readonly NamedGarden[];
  sharing: Sharing;
  /** Scopes that a token may have, and the default ones. */
  scopes: { all: readonly string[]; usual: readonly string[] };
}

/** The outcome of a form. */
export interface Outcome {
  done?: keyof Texts['done'] | undefined;
  /** A new token, shown only once. */
  token?: string;
  /** Another secret that is shown only once. */
  notice?: Html;
  fault?: Sentence;
  status?: number;
  form?: URLSearchParams;
}

/** Shows the settings page. */
export function showSettings(request: BrowserRequest, settings: Settings, outcome: Outcome): void {
  const { texts } = request;
  const { done, token, fault, status = 200 } = outcome;
  const content = markup`${faultSummary(texts, fault)}
    ${done !== undefined && markup`<p class="done" role="status">${texts.done[done]}</p>`}
    ${token !== undefined && newToken(texts, token)} ${outcome.notice}
    <form class="entry" method="post" action="/settings">
      ${request.csrfField()}
      <input type="hidden" name="action" value="signOut" />
      <span>${texts.signedIn} <strong>${settings.account}</strong>.</span>
      <button>${texts.signOut}</button>
    </form>
    ${sharingPart(request, settings.sharing, outcome)} ${tokensPart(request, settings, outcome)}
    ${
      settings.issuer
        ? issuerPart(texts, settings.issuer)
        : [appsPart(request, settings), waysPart(request, settings, outcome)]
    }
    ${settings.email !== undefined && emailPart(request, settings.email, outcome)}
    ${sessionsPart(request, settings)} ${dataPart(request, settings, outcome)}`;
  const script = settings.newPasskey && PASSKEY_SCRIPT;
  request.show(texts.settings, content, { status, script });
}

function newToken(texts: Texts, token: string): Html {
  return markup`<p class="done" role="status">
    ${texts.newToken}
    <code id="token" tabindex="0" autofocus>${token}</code>
  </p>`;
}

function tokensPart(request: BrowserRequest, settings: Settings, { fault, form }: Outcome): Html {
  const { texts, api } = request;
  const date = dates(request, settings.timezone);
  const entries = settings.tokens.map(({ id, name, scopes, expiresAt, lastUsedAt, garden }) => {
    const used = usedText(texts, lastUsedAt, date);
    const where = gardenText(texts, settings.gardens, garden);
    return {
      id,
      title: name,
      details: [scopes.join(', '), ...where, `${texts.ends} ${date(expiresAt)}`, used],
    };
  });
  const isFaulty = ['badTokenName', 'noScope', 'tooManyTokens'].includes(fault ?? '');
  const name = (isFaulty && form?.get('name')) || '';
  const chosen = (isFaulty && form?.getAll('scope')) || settings.scopes.usual;
  const boxes = settings.scopes.all.map((scope) => {
    const isChosen = chosen.includes(scope) && markup`checked`;
    const what = texts.scopes[scope] ?? api.scopes.get(scope) ?? scope;
    return markup`<label><input type="checkbox" name="scope" value="${scope}" ${isChosen} />${what}</label>`;
  });
  const days = TOKEN_DAYS.map((each) => {
    const isUsual = each === TOKEN_DAYS.at(-1) && markup`selected`;
    return markup`<option value="${String(each)}" ${isUsual}>${String(each)} ${texts.days}</option>`;
  });
  const nameKind = markup`name="name" value="${name}" maxlength="100" autocomplete="off"`;
  const fields = markup`${field('token-name', texts.tokenName, nameKind, fault)}
    <fieldset id="token-scopes" tabindex="-1">
      <legend>${texts.may}</legend>
      ${boxes}
    </fieldset>
    ${gardenField(texts, settings.gardens, (isFaulty && form?.get('garden')) || undefined)}
    <label for="days">${texts.goodFor}</label>
    <select id="days" name="days">
      ${days}
    </select>`;
  return markup`<h2>${texts.tokens}</h2>
    <p>${texts.tokensAbout}</p>
    ${list(request, 'revokeToken', texts.revoke, entries)}
    ${disclosure(request, 'makeToken', texts.makeToken, fields, { isOpen: isFaulty })}`;
}

function appsPart(request: BrowserRequest, settings: Settings): Html {
  const { texts } = request;
  const date = dates(request, settings.timezone);
  const entries = settings.apps.map(({ id, name, scopes, since, garden }) => ({
    id,
    title: name,
    details: [
      scopes.join(', '),
      ...gardenText(texts, settings.gardens, garden),
      `${texts.since} ${date(since)}`,
    ],
  }));
  return markup`<h2>${texts.apps}</h2>
    ${list(request, 'revokeApp', texts.revoke, entries)}`;
}

function waysPart(request: BrowserRequest, settings: Settings, { fault }: Outcome): Html {
  const { texts } = request;
  const { account, passkeys, newPasskey, hasPassword } = settings;
  const date = dates(request, settings.timezone);
  const entries = passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
    id,
    title: `${texts.passkeyOf} ${name}`,
    details: [`${texts.since} ${date(createdAt)}`, usedText(texts, lastUsedAt, date)],
  }));
  const isOpen = ['wrongNow', 'tooShort', 'tooLong', 'tooCommon', 'tooMany', 'busy'].includes(
    fault ?? '',
  );
  const title = hasPassword ? texts.changePassword : texts.setPassword;
  const fields = markup`<p>${texts.othersOut}</p>
    ${accountField(account)} ${hasPassword && passwordField('now', texts.passwordNow, fault)}
    ${newPasswordField(texts, fault)}`;
  return markup`<h2>${texts.ways}</h2>
    ${hasPassword && markup`<p>${texts.password}</p>`}
    ${(passkeys.length > 0 || !hasPassword) && list(request, 'removePasskey', texts.remove, entries)}
    ${formOf(request, 'addPasskey', passkeyButton(texts, texts.makePasskey, newPasskey))}
    ${disclosure(request, 'setPassword', title, fields, { isOpen })}`;
}

function sessionsPart(request: BrowserRequest, settings: Settings): Html {
  const { texts } = request;
  const date = dates(request, settings.timezone, { timeStyle: 'short' });
  const entries = settings.sessions.map(({ id, browser, since }) => {
    const here = id === settings.here ? [texts.thisBrowser] : [];
    return {
      id,
      title: browser || texts.browser,
      details: [`${texts.since} ${date(since)}`, ...here],
    };
  });
  return markup`<h2>${texts.sessions}</h2>
    ${list(request, 'endSession', texts.end, entries)}`;
}

function dataPart(request: BrowserRequest, { account }: Settings, { fault }: Outcome): Html {
  const { texts } = request;
  const label = markup`${texts.deleteAbout} <strong>${account}</strong>`;
  const options = { isOpen: fault === 'notYourName', kind: 'danger' };
  return markup`<h2>${texts.data}</h2>
    <p>${texts.exportAbout}</p>
    ${formOf(request, 'export', markup`<button>${texts.export}</button>`)}
    ${disclosure(request, 'delete', texts.delete, confirmField(label, fault), options)}`;
}

function usedText(texts: Texts, at: Date | null, date: (date: Date) => string): string {
  return at ? `${texts.lastUsed} ${date(at)}` : texts.never;
}
