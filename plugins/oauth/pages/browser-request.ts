import { randomBytes } from 'node:crypto';

import bodyParser from 'koa-bodyparser';
import type { Context } from 'koa';
import type Provider from 'oidc-provider';

import {
  type ApiError,
  notFound,
  payloadTooLarge,
  rateLimited,
  unsupportedMediaType,
} from '../../../src/core/errors';
import { hashOf } from '../../../src/core/identity';
import type { Acting } from '../../../src/data/audit/entry';
import { operationName } from '../../../src/plugins/operation-facts';
import type { CallInput, ProtocolApi } from '../../../src/plugins/protocol-endpoint';
import type { BrowserPage } from '../people/passkeys';
import { SESSION_SECONDS } from '../server/configuration';
import {
  type Html,
  type Language,
  languageOf,
  markup,
  type PageOptions,
  showPage,
} from '../../pages';
import { DEVICE_SECONDS } from '../state/devices';
import { beginSession } from '../state/sessions';
import type { StateStore } from '../state/store';
import { browserName } from './browser-name';
import { PageFault, TEXTS, type Texts } from './texts';

/** The longest form. */
const FORM_LIMIT = '16kb';

const parseForm = bodyParser({
  enableTypes: ['form'],
  formLimit: FORM_LIMIT,
  onerror: (error) => {
    const { status } = error as { status?: number }; // Of http-errors.
    throw status === 413
      ? payloadTooLarge.error('The form is too long.')
      : unsupportedMediaType.error('The form cannot be read.', { status: 400 });
  },
});

/** A request of a person's browser for a page. */
export class BrowserRequest {
  readonly language: Language;
  readonly texts: Texts;
  #form: string | undefined;

  constructor(
    readonly ctx: Context,
    readonly api: ProtocolApi,
    readonly origin: string,
    readonly provider: Provider,
    readonly store: StateStore,
  ) {
    this.language = languageOf(ctx);
    this.texts = TEXTS[this.language];
    ctx.cookies.secure = this.#isSecure;
  }

  get #isSecure(): boolean {
    return this.origin.startsWith('https:');
  }

  /** Who acts, for the audit log. */
  acting(account: string): Acting {
    return {
      actor: { type: 'person', account },
      source: { address: this.ctx.ip, requestId: this.ctx.response.get('X-Request-Id') },
    };
  }

  get page(): BrowserPage {
    const { origin, api, ctx } = this;
    const device = this.cookie('device');
    return { origin, client: api.clientOf(ctx), path: ctx.path, form: this.#formSecret(), device };
  }

  /** What the person knows the browser by. */
  get browser(): string {
    return browserName(this.ctx.get('User-Agent')) || this.texts.browser;
  }

  /** The session of the browser; it has no account if nobody is signed in. */
  session(): Promise<InstanceType<Provider['Session']>> {
    return this.provider.Session.get(this.ctx);
  }

  /**
   * Signs a person in, under a new session id: somebody else may know the old one.
   *
   * @param atIssuer when the person signed in at an issuer, in seconds since 1970; if left out, they
   *   did here and now, and the browser is known from then on
   */
  async signIn(accountId: string, atIssuer?: number): Promise<void> {
    const loginTs = atIssuer ?? Math.floor(Date.now() / 1000);
    const device = atIssuer === undefined ? this.cookie('device') || randomSecret() : undefined;
    const { Session } = this.provider;
    const before = await this.session();
    if (before.accountId !== undefined) await before.destroy();
    // An authorization request that requires signing in again refers to the session by its uid.
    const session = new Session();
    if (before.accountId === accountId) session.uid = before.uid;
    session.loginAccount({ accountId, loginTs });
    session.state = { browser: this.browser };
    const expiresAt = new Date(Date.now() + SESSION_SECONDS * 1000);
    const begun = { id: session.jti, user: accountId, expiresAt, device };
    await beginSession(this.store, begun, this.acting(accountId));
    await session.save(SESSION_SECONDS);
    this.#keep(this.provider.cookieName('session'), session.jti, SESSION_SECONDS);
    this.setCookie('form', '', 0);
    if (device !== undefined) this.setCookie('device', device, DEVICE_SECONDS);
  }

  async signOut(): Promise<void> {
    const session = await this.session();
    if (session.accountId !== undefined) await session.destroy();
    this.#keep(this.provider.cookieName('session'), '', 0);
  }

  /**
   * The fields of a form.
   *
   * @throws PageFault if it does not come from a page of ours in this browser, ApiError if it is too long
   */
  async form(): Promise<URLSearchParams> {
    const { ctx } = this;
    await parseForm(ctx, async () => undefined);
    const form = new URLSearchParams(ctx.request.rawBody ?? '');
    const origin = ctx.get('Origin');
    const cookie = this.cookie('form');
    const isOurs = cookie !== '' && hashOf(form.get('csrf') ?? '') === hashOf(csrfOf(cookie));
    const isHere = ['', this.origin].includes(origin) || (origin === 'null' && this.#isSameSite);
    if (!isOurs || !isHere) throw new PageFault('forged', 403);
    return form;
  }

  /** Whether nothing says that a form without a referrer, whose origin is `null`, is from elsewhere. */
  get #isSameSite(): boolean {
    return ['', 'same-origin'].includes(this.ctx.get('Sec-Fetch-Site'));
  }

  /** The field with the CSRF token. */
  csrfField(): Html {
    return markup`<input type="hidden" name="csrf" value="${csrfOf(this.#formSecret())}" />`;
  }

  /** The secret in the cookie of the browser's forms. */
  #formSecret(): string {
    this.#form ??= this.cookie('form');
    if (this.#form === '') {
      this.#form = randomSecret();
      this.setCookie('form', this.#form, SESSION_SECONDS);
    }
    return this.#form;
  }

  /** Redirects the browser. */
  redirect(to: string): void {
    this.ctx.body = '';
    this.ctx.remove('Content-Type');
    this.ctx.status = 303;
    this.ctx.set('Location', to);
    this.ctx.set('Cache-Control', 'no-store');
  }

  /**
   * Calls an operation for the authenticated caller, as a tool call does: from its rate limit onwards.
   *
   * @returns its response, as JSON
   * @throws ApiError
   */
  async call(name: string, given: Partial<CallInput>): Promise<unknown> {
    const { api, ctx } = this;
    const operation = api.operations.find((each) => operationName(each) === name);
    if (!operation) throw new Error(`${name} is not served here.`);
    const input = { params: {}, query: undefined, body: undefined, ...given };
    const { status, json } = await api.call(operation, input, ctx);
    // The only error that is stored for retries.
    if (status === 404) throw notFound.error();
    return JSON.parse(json);
  }

  /** A refusal to show on a page. @throws all other errors */
  faultOf(error: unknown): PageFault {
    if (!(error instanceof PageFault)) throw error;
    this.ctx.set(error.headers);
    return error;
  }

  show(title: string, content: Html, options: PageOptions = {}): void {
    showPage(this.ctx, title, content, options);
  }

  /** A cookie of ours; empty if it is not set. */
  cookie(name: string): string {
    return this.ctx.cookies.get(this.#prefix + name) ?? '';
  }

  /** Sets a cookie of ours, or deletes it if `seconds` is 0. */
  setCookie(name: string, value: string, seconds: number): void {
    this.#keep(this.#prefix + name, value, seconds);
  }

  get #prefix(): string {
    return this.#isSecure ? '__Host-' : '';
  }

  #keep(name: string, value: string, seconds: number): void {
    const options = { httpOnly: true, sameSite: 'lax', path: '/', signed: false } as const;
    this.ctx.cookies.set(name, value, {
      ...options,
      secure: this.#isSecure,
      overwrite: true,
      ...(seconds > 0 ? { maxAge: seconds * 1000 } : { expires: new Date(0) }),
    });
  }
}

/** Shows a page that says why a request was refused. */
export function showFault(ctx: Context, error: PageFault | ApiError): void {
  const texts = TEXTS[languageOf(ctx)];
  ctx.set(error.headers);
  const content = markup`<p class="fault" role="alert">${sentenceOf(error, texts)}</p>`;
  showPage(ctx, texts.failed, content, { status: error.status, isSecret: true });
}

function sentenceOf(error: PageFault | ApiError, texts: Texts): string {
  if (error instanceof PageFault) return texts[error.sentence];
  if (error.kind === rateLimited) return texts.tooFast;
  return error.status < 500 ? error.message : texts.unavailable;
}

function randomSecret(): string {
  return randomBytes(24).toString('base64url');
}

function csrfOf(cookie: string): string {
  return hashOf(`form ${cookie}`);
}
