import type { Context } from 'koa';
import type Provider from 'oidc-provider';

import { type ApiError, notFound } from '../../../src/core/errors';
import { publicOriginOf } from '../../../src/core/settings/public-origin';
import type { JsonSchema } from '../../../src/fields/json-schema';
import type { Host } from '../../../src/plugins/host';
import type {
  ProtocolApi,
  ProtocolEndpoint,
  ProtocolMethod,
} from '../../../src/plugins/protocol-endpoint';
import type { Issuer } from '../issuer/settings';
import { languageOf } from '../../pages';
import { PageFault, TEXTS } from '../pages/texts';
import { showFault, BrowserRequest } from '../pages/browser-request';
import type { Memberships } from '../../members';
import type { Mails } from '../mail/mails';
import type { People } from '../people/people';
import type { Documents } from '../server/documents';
import type { Providers } from '../server/provider';
import type { StateStore } from '../state/store';

/** What the endpoints need. */
export interface Parts {
  host: Host;
  store: StateStore;
  people: People;
  mails: Mails;
  documents: Documents;
  /** The gardens that people share. */
  gardens: Memberships;
  providers: Providers;
  /** Where people sign in, if not here. */
  issuer: Issuer | undefined;
  /** Whether anyone may sign up. */
  isOpen: boolean;
}

export type Named = Pick<ProtocolMethod, 'summary' | 'operationId'>;

export const access = { public: 'callers have no token yet' };

/** The body of an OAuth error; errors of the API have the `code` that they have elsewhere too. */
const ERROR: JsonSchema = {
  title: 'OAuthError',
  type: 'object',
  required: ['error'],
  properties: {
    error: { type: 'string' },
    error_description: { type: 'string' },
    code: { type: 'string' },
  },
};
const TEXT: JsonSchema = { type: 'string' };

/** Responses of some statuses, with their media types. */
export function answers(
  statuses: readonly number[],
  content: Readonly<Record<string, JsonSchema>>,
): NonNullable<ProtocolMethod['responses']> {
  const described = (status: number) => (status < 400 ? 'The response' : 'Why it was refused');
  return Object.fromEntries(
    statuses.map((status) => [status, { description: described(status), content }]),
  );
}

/** A metadata document. */
export const DOCUMENT = answers([200], { 'application/json': { type: 'object' } });

/** OAuth errors of some statuses. */
export function oauthErrors(...statuses: number[]): NonNullable<ProtocolMethod['responses']> {
  return answers(statuses, { 'application/json': ERROR });
}

/** An endpoint that scripts of any origin may call. */
export function open(path: string, methods: ProtocolEndpoint['methods']): ProtocolEndpoint {
  return { path, anyOrigin: true, methods };
}

/** How clients get an error of the API: they expect codes of OAuth. */
export function showOAuthError(ctx: Context, { status, message, kind }: ApiError): void {
  const error =
    status === 429 || status === 503
      ? 'temporarily_unavailable'
      : status < 500
        ? 'invalid_request'
        : 'server_error';
  ctx.type = 'application/json';
  ctx.body = JSON.stringify({ error, error_description: message, code: kind.code });
}

const PAGE = { 'text/html': TEXT };
/** Before a request is known to be for a page, it is refused with JSON. */
const PAGE_OR_JSON = { ...PAGE, 'application/json': ERROR };

/** Responses to people: a page, or a redirect. */
export const PAGES: NonNullable<ProtocolMethod['responses']> = {
  ...answers([200, 404, 429, 500], PAGE),
  ...answers([400, 503], PAGE_OR_JSON),
  303: { description: 'The next page' },
};
/** Responses of pages that not everybody may see. */
export const PRIVATE_PAGES = { ...PAGES, ...answers([403], PAGE) };
/** Responses to the forms of pages; an export is a file. */
const FORMS = {
  ...PRIVATE_PAGES,
  ...answers([200], { ...PAGE, 'application/json': { type: 'object' } }),
  ...answers([413], PAGE),
};

/**
 * Runs work on a request with its origin and the authorization server there.
 *
 * @throws ApiError not_found if the origin is not one of ours
 */
export async function atServer(
  ctx: Context,
  api: ProtocolApi,
  { host, providers, documents }: Parts,
  work: (origin: string, provider: Provider) => Promise<void>,
): Promise<void> {
  const origin = originFor(ctx, host);
  const provider = await providers.at(origin);
  // A proxy may have terminated TLS.
  ctx.req.headers['x-forwarded-proto'] = origin.startsWith('https:') ? 'https' : 'http';
  await documents.causedBy(api.clientOf(ctx), () => work(origin, provider));
}

/** @throws ApiError not_found if the origin of a request is not one of ours */
export function originFor(ctx: Context, { settings }: Host): string {
  const origin = publicOriginOf(settings, ctx.req);
  if (origin === undefined) throw notFound.error(TEXTS[languageOf(ctx)].elsewhere);
  return origin;
}

/** Returns functions that create methods for pages and for their forms. */
export function pagesOf(parts: Parts) {
  const creates =
    (responses: NonNullable<ProtocolMethod['responses']>) =>
    (
      operationId: string,
      summary: string,
      show: (request: BrowserRequest) => Promise<void>,
      { countsFailures = false }: Pick<ProtocolMethod, 'countsFailures'> = {},
    ): ProtocolMethod => ({
      operationId,
      summary,
      access,
      responses,
      countsFailures,
      showError: showFault,
      handler: (ctx, api) =>
        withFaultsShown(ctx, () =>
          atServer(ctx, api, parts, (origin, provider) =>
            show(new BrowserRequest(ctx, api, origin, provider, parts.store)),
          ),
        ),
    });
  return { page: creates(PAGES), form: creates(FORMS) };
}

/** Shows the refusals of pages. */
export async function withFaultsShown(ctx: Context, show: () => Promise<void>): Promise<void> {
  try {
    await show();
  } catch (error) {
    if (!(error instanceof PageFault)) throw error;
    showFault(ctx, error);
  }
}
