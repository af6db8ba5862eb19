import type { Context } from 'koa';
import type Provider from 'oidc-provider';

import { ApiError, notFound, payloadTooLarge, rateLimited } from '../../../src/core/errors';
import { publicOriginOf } from '../../../src/core/settings/public-origin';
import type { JsonSchema } from '../../../src/fields/json-schema';
import type { Host } from '../../../src/plugins/host';
import type {
  ApiDescription,
  ProtocolEndpoint,
  ProtocolMethod,
} from '../../../src/plugins/protocol-endpoint';
import type { Issuer } from '../issuer/settings';
import { languageOf } from '../../pages';
import { PageFault, TEXTS } from '../pages/texts';
import { showFault, Visit } from '../pages/visit';
import type { People } from '../people/people';
import type { Providers } from '../server/provider';
import type { StateStore } from '../state/store';

/** What the endpoints work with. */
export interface Parts {
  host: Host;
  store: StateStore;
  people: People;
  providers: Providers;
  /** Where people sign in instead of here. */
  issuer: Issuer | undefined;
  /** Whether everybody may sign up. */
  isOpen: boolean;
  /** Is told what there is, before anything is served. */
  prepare: (description: ApiDescription) => void;
}

export type Named = Pick<ProtocolMethod, 'summary' | 'operationId'>;

export const access = { public: 'whoever comes here has no token yet' };

/** The body of an error of OAuth; those of the API itself have its members as well. */
const ERROR: JsonSchema = {
  title: 'OAuthError',
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'string' }, error_description: { type: 'string' } },
};
const TEXT: JsonSchema = { type: 'string' };

/** Answers of some statuses with bodies of media types. */
export function answers(
  statuses: readonly number[],
  content: Readonly<Record<string, JsonSchema>>,
): NonNullable<ProtocolMethod['responses']> {
  const described = (status: number) => (status < 400 ? 'The answer' : 'Why not');
  return Object.fromEntries(
    statuses.map((status) => [status, { description: described(status), content }]),
  );
}

/** Answers to programs: an object, or an error of OAuth. */
export function jsonAnswers(...statuses: number[]): NonNullable<ProtocolMethod['responses']> {
  return {
    ...answers(statuses, { 'application/json': { type: 'object' } }),
    ...answers([400, 401], { 'application/json': ERROR }),
  };
}

/** An endpoint that scripts of all pages may call. */
export function open(path: string, methods: ProtocolEndpoint['methods']): ProtocolEndpoint {
  return { path, anyOrigin: true, methods };
}

/** Answers to people: a page, or what they asked for as a file, or another address. */
export const PAGES: NonNullable<ProtocolMethod['responses']> = {
  ...answers([200], { 'text/html': TEXT, 'application/json': { type: 'object' } }),
  ...answers([400, 403, 413, 429], { 'text/html': TEXT, 'application/json': ERROR }),
  303: { description: 'Where the browser goes next' },
};

/**
 * The origin that a request is for, and the authorization server there.
 *
 * @throws ApiError not_found where it is for none of ours
 */
export async function serverFor(
  ctx: Context,
  { host, providers }: Parts,
): Promise<{ origin: string; provider: Provider }> {
  const origin = originFor(ctx, host);
  return { origin, provider: await providers.at(origin) };
}

/** @throws ApiError not_found where a request is for none of our origins */
export function originFor(ctx: Context, { settings }: Host): string {
  const origin = publicOriginOf(settings, ctx.req);
  if (origin === undefined) throw notFound.error(TEXTS[languageOf(ctx)].elsewhere);
  return origin;
}

/** Makes methods that show a page, or do what its form says. */
export function pagesOf(parts: Parts) {
  return (
    operationId: string,
    summary: string,
    show: (visit: Visit) => Promise<void>,
  ): ProtocolMethod => ({
    ...{ operationId, summary, access },
    responses: PAGES,
    errors: [notFound],
    handler: (ctx, api) =>
      withFaultsShown(ctx, async () => {
        const { origin, provider } = await serverFor(ctx, parts);
        await show(new Visit(ctx, api, origin, provider, parts.store));
      }),
  });
}

/** Has a person see on a page what they can do something about; all else is said as everywhere. */
export async function withFaultsShown(ctx: Context, show: () => Promise<void>): Promise<void> {
  try {
    await show();
  } catch (error) {
    if (!(error instanceof PageFault) && !isForPeople(error)) throw error;
    showFault(ctx, error);
  }
}

function isForPeople(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  return error.kind === payloadTooLarge || error.kind === rateLimited || error.status === 400;
}
