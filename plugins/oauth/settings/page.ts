import type { OwnToken } from '../../accounts';
import { type Html, markup } from '../../pages';
import { faultSummary, invalidIf, newPasswordField } from '../pages/fields';
import type { Sentence, Texts } from '../pages/texts';
import type { Visit } from '../pages/visit';
import type { SessionView } from '../state/sessions';
import type { Program } from '../state/store';

/** For how many days a token may be made; the last is what it is made for unless that is changed. */
export const TOKEN_DAYS = [7, 30, 90, 365];

/** What the settings show of an account. */
export interface Settings {
  account: string;
  /** IANA name. */
  timezone: string;
  tokens: readonly OwnToken[];
  programs: readonly Program[];
  hasPassword: boolean;
  sessions: readonly SessionView[];
  /** The id of the session of this browser. */
  here: string;
  /** Scopes that a token may have, and those that it has unless that is changed. */
  scopes: { all: readonly string[]; usual: readonly string[] };
}

/** What became of the form that was sent, if any. */
export interface Outcome {
  done?: keyof Texts['done'] | undefined;
  /** A token that was made, which is shown this once. */
  token?: string;
  fault?: Sentence;
  status?: number;
  form?: URLSearchParams;
}

/** An entry of a list, with what its button does to it. */
interface Entry {
  id: string;
  title: string;
  details: Html;
}

/** All settings on one page, each a form of its own. */
export function showSettings(visit: Visit, settings: Settings, outcome: Outcome): void {
  const { texts } = visit;
  const { done, token, fault, status = 200 } = outcome;
  const content = markup`${faultSummary(texts, fault)}
    ${done !== undefined && markup`<p class="done" role="status">${texts.done[done]}</p>`}
    ${token !== undefined && newToken(texts, token)}
    <form class="entry" method="post" action="/sign-out">
      ${visit.csrfField()}
      <span>${texts.signedIn} <strong>${settings.account}</strong>.</span>
      <button>${texts.signOut}</button>
    </form>
    ${tokensPart(visit, settings, outcome)} ${programsPart(visit, settings)}
    ${waysPart(visit, settings, outcome)} ${sessionsPart(visit, settings)}
    ${dataPart(visit, settings, outcome)}`;
  visit.show(texts.settings, content, { status });
}

function newToken(texts: Texts, token: string): Html {
  return markup`<p class="done" role="status">
    ${texts.newToken}
    <code id="token" tabindex="0" autofocus>${token}</code>
  </p>`;
}

function tokensPart(visit: Visit, settings: Settings, { fault, form }: Outcome): Html {
  const { texts, api } = visit;
  const date = dates(visit, settings);
  const entries = settings.tokens.map(({ id, name, scopes, expiresAt, lastUsedAt }) => {
    const used = lastUsedAt
      ? markup`${texts.lastUsed} ${date(lastUsedAt)}`
      : markup`${texts.never}`;
    const details = markup`${scopes.join(', ')}; ${texts.ends} ${date(expiresAt)}; ${used}`;
    return { id, title: name, details };
  });
  const isOpen = ['badTokenName', 'noScope', 'tooManyTokens'].includes(fault ?? '');
  const chosen = isOpen ? (form?.getAll('scope') ?? []) : settings.scopes.usual;
  const boxes = settings.scopes.all.map(
    (scope) =>
      markup`<label
        ><input type="checkbox" name="scope" value="${scope}"${chosen.includes(scope) && markup` checked`} />${
          texts.scopes[scope] ?? api.scopes.get(scope) ?? scope
        }</label
      >`,
  );
  const days = TOKEN_DAYS.map(
    (each) =>
      markup`<option value="${String(each)}"${each === TOKEN_DAYS.at(-1) && markup` selected`}>
        ${String(each)} ${texts.days}
      </option>`,
  );
  return markup`<h2>${texts.tokens}</h2>
    <p>${texts.tokensAbout}</p>
    ${list(visit, 'revokeToken', texts.revoke, entries)}
    <details${isOpen && markup` open`}>
      <summary>${texts.makeToken}</summary>
      ${formOf(
        visit,
        'makeToken',
        markup`<label for="token-name">${texts.tokenName}</label>
          <input
            id="token-name"
            name="name"
            value="${(isOpen && form?.get('name')) || ''}"
            maxlength="100"
            autocomplete="off"
            required${invalidIf(fault, 'token-name')}
          />
          <fieldset id="token-scopes" tabindex="-1">
            <legend>${texts.may}</legend>
            ${boxes}
          </fieldset>
          <label for="days">${texts.goodFor}</label>
          <select id="days" name="days">
            ${days}
          </select>
          <button class="main">${texts.makeToken}</button>`,
      )}
    </details>`;
}

function programsPart(visit: Visit, settings: Settings): Html {
  const { texts } = visit;
  const date = dates(visit, settings);
  const entries = settings.programs.map(({ id, name, scopes, since }) => {
    const details = markup`${scopes.join(', ')}; ${texts.since} ${date(since)}`;
    return { id, title: name, details };
  });
  return markup`<h2>${texts.programs}</h2>
    ${list(visit, 'revokeProgram', texts.revoke, entries)}`;
}

function waysPart(visit: Visit, { account, hasPassword }: Settings, { fault }: Outcome): Html {
  const { texts } = visit;
  const isOpen = ['wrongNow', 'tooShort', 'tooLong', 'tooCommon', 'tooMany'].includes(fault ?? '');
  const now = markup`<label for="now">${texts.passwordNow}</label>
    <input
      id="now"
      type="password"
      name="now"
      autocomplete="current-password"
      required${invalidIf(fault, 'now')}
    />`;
  return markup`<h2>${texts.ways}</h2>
    <details${isOpen && markup` open`}>
      <summary>${hasPassword ? texts.changePassword : texts.setPassword}</summary>
      ${formOf(
        visit,
        'setPassword',
        markup`<p>${texts.othersOut}</p>
          <input hidden name="username" value="${account}" autocomplete="username" />
          ${hasPassword && now} ${newPasswordField(texts, fault)}
          <button class="main">
            ${hasPassword ? texts.changePassword : texts.setPassword}
          </button>`,
      )}
    </details>`;
}

function sessionsPart(visit: Visit, settings: Settings): Html {
  const { texts } = visit;
  const date = dates(visit, settings, { timeStyle: 'short' });
  const entries = settings.sessions.map(({ id, browser, since }) => ({
    id,
    title: browser === '' ? texts.browser : browser,
    details: markup`${texts.since} ${date(since)}${id === settings.here && markup`; ${texts.thisBrowser}`}`,
  }));
  return markup`<h2>${texts.sessions}</h2>
    ${list(visit, 'endSession', texts.end, entries)}`;
}

function dataPart(visit: Visit, { account }: Settings, { fault }: Outcome): Html {
  const { texts } = visit;
  return markup`<h2>${texts.data}</h2>
    ${formOf(
      visit,
      'export',
      markup`<p>${texts.exportAbout}</p>
        <button>${texts.export}</button>`,
    )}
    <details${fault === 'notYourName' && markup` open`}>
      <summary>${texts.delete}</summary>
      ${formOf(
        visit,
        'delete',
        markup`<label for="confirm">${texts.deleteAbout} <strong>${account}</strong></label>
          <input
            id="confirm"
            name="confirm"
            autocomplete="off"
            autocapitalize="none"
            spellcheck="false"
            required${invalidIf(fault, 'confirm')}
          />
          <button class="danger">${texts.delete}</button>`,
      )}
    </details>`;
}

function list(visit: Visit, action: string, button: string, entries: readonly Entry[]): Html {
  if (entries.length === 0) return markup`<p>${visit.texts.none}</p>`;
  const items = entries.map(
    ({ id, title, details }) =>
      markup`<li class="entry">
        <div><strong>${title}</strong><br />${details}</div>
        ${formOf(
          visit,
          action,
          markup`<input type="hidden" name="id" value="${id}" />
            <button aria-label="${button}: ${title}">${button}</button>`,
        )}
      </li>`,
  );
  return markup`<ul role="list">
    ${items}
  </ul>`;
}

function formOf(visit: Visit, action: string, content: Html): Html {
  return markup`<form method="post" action="/settings">
    ${visit.csrfField()}
    <input type="hidden" name="action" value="${action}" />
    ${content}
  </form>`;
}

/** Says when something was, as the person's calendar and clock have it. */
function dates(
  { language }: Visit,
  { timezone: timeZone }: Settings,
  options: Intl.DateTimeFormatOptions = {},
): (date: Date) => string {
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone, ...options });
  return (date) => format.format(date);
}
