import type Provider from 'oidc-provider';

import { type Binding, hashOf } from '../../../src/core/identity';
import { documentHost } from '../server/client-metadata';
import { shownName } from '../server/client-name';
import { OWN_SCOPES } from '../server/configuration';
import { loadLibrary } from '../server/library';
import { appTarget, scopesIn, type StateStore } from '../state/store';
import { markup } from '../../pages';
import { PageFault } from './texts';
import type { BrowserRequest } from './browser-request';
import { chosenGarden, chosenScopes, gardenField, gardensOf } from './gardens';

/** How many authorized apps an account may have; beyond that the oldest ends. */
const MAX_APPS = 100;

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;
type Client = NonNullable<Awaited<ReturnType<Provider['Client']['find']>>>;

/** An authorization request, and the person who is signed in. */
interface ConsentRequest {
  interaction: Interaction;
  client: Client;
  accountId: string;
  /** When the person signed in, in seconds since 1970. */
  signedInAt: number;
  scopes: string[];
}

/** Shows the consent page. */
export async function consentPage(request: BrowserRequest, all: readonly string[]): Promise<void> {
  const authorization = await requestOf(request, all);
  if (!authorization) return;
  const { texts, api } = request;
  const { interaction, client, accountId, scopes } = authorization;
  const before = await gardenBefore(request.store, authorization);
  const by = documentHost(client.clientId);
  const name = shownName(client.clientName, by) ?? by ?? texts.unnamed;
  const to = webHost(String(interaction.params['redirect_uri']));
  const boxes = scopes.map(
    (scope) =>
      markup`<label
        ><input type="checkbox" name="scope" value="${scope}" checked />${
          texts.scopes[scope] ?? api.scopes.get(scope) ?? scope
        }</label
      >`,
  );
  const content = markup`<p>${texts.signedIn} <strong>${accountId}</strong>.</p>
    <form method="post">
      ${request.csrfField()}
      <fieldset>
        <legend>${texts.may}</legend>
        ${boxes}
      </fieldset>
      ${gardenField(texts, await gardensOf(request.store, accountId), before)}
      ${
        by === undefined
          ? markup`<p>${texts.ownName}</p>`
          : markup`<p class="verified">${texts.describedBy} <strong>${by}</strong>.</p>`
      }
      ${
        to === undefined
          ? markup`<p>${texts.returns} <strong>${texts.thisDevice}</strong>.</p>`
          : markup`<p class="verified">${texts.returnsToHost} <strong>${to}</strong>.</p>`
      }
      <p>${texts.until}</p>
      <p>${texts.unknown}</p>
      <button class="main" name="answer" value="allow">${texts.allow}</button>
      <button name="answer" value="refuse">${texts.refuse}</button>
    </form>`;
  const who = by === undefined || name.includes(by) ? name : `${name} (${by})`;
  request.show(`${who} ${texts.asks}`, content, { mayLeave: true });
}

/** The garden for which the person last allowed the app, which may now ask for more; undefined if for all. */
async function gardenBefore(
  store: StateStore,
  { accountId, client }: ConsentRequest,
): Promise<string | undefined> {
  const apps = await store.authorizedApps(accountId);
  const same = apps.filter((app) => app.client === client.clientId);
  return same.sort((a, b) => b.since.getTime() - a.since.getTime())[0]?.garden;
}

/** Grants or denies access, and returns to the client. */
export async function answerConsent(
  request: BrowserRequest,
  store: StateStore,
  all: readonly string[],
): Promise<void> {
  const form = await request.form();
  const authorization = await requestOf(request, all);
  if (!authorization) return;
  const { interaction, accountId, signedInAt } = authorization;
  const bound = await chosenGarden(store, accountId, form);
  const scopes = chosenScopes(form, authorization.scopes, bound?.shared);
  const isAllowed = form.get('answer') === 'allow' && scopes.length > 0;
  const result = isAllowed
    ? {
        ...(interaction.prompt.name === 'login' ? { login: { accountId, ts: signedInAt } } : {}),
        consent: { grantId: await grant(request, store, authorization, { scopes, ...bound }) },
      }
    : { error: 'access_denied', error_description: 'the person denied access' };
  // The library resumes it only in this session: an answer does not outlive it.
  const { uid } = await request.session();
  await saved(interaction, { result, session: { ...interaction.session, accountId, uid } });
  request.redirect(interaction.returnTo);
}

async function grant(
  request: BrowserRequest,
  store: StateStore,
  { interaction, client, accountId, scopes: requested }: ConsentRequest,
  { scopes, garden }: { scopes: readonly string[]; garden?: Binding },
): Promise<string> {
  const removed = requested.filter((scope) => !scopes.includes(scope));
  const { clientId } = client;
  const made = new request.provider.Grant({ accountId, clientId });
  // A form that is sent twice makes one grant. Only its refresh tokens may reveal the id.
  const { jti: session } = await request.session();
  made.jti = hashOf(`grant ${interaction.uid} ${session} ${garden?.owner ?? ''}`);
  made.addOIDCScope(namesIn(interaction, OWN_SCOPES).join(' '));
  for (const resource of [interaction.params['resource']].flat().map(String)) {
    made.addResourceScope(resource, scopes.join(' '));
    // Otherwise the library would ask again.
    if (removed.length > 0) made.rejectResourceScope(resource, removed.join(' '));
  }
  const oldest = await store.allButNewest(MAX_APPS - 1, accountId, 'Grant');
  for (const each of oldest) await store.endGrant(each, request.acting(accountId));
  const id = await made.save();
  if (garden) await store.bind(hashOf(id), garden);
  await store.host.transactShared(async (tx) => {
    const changes = { scopes, ...(garden && { garden: garden.owner }) };
    const act = { action: 'program.allowed', target: appTarget(hashOf(id)), changes };
    tx.audit(act, accountId, request.acting(accountId));
  });
  return id;
}

/** The request; undefined if the person was redirected to sign in first. */
async function requestOf(
  request: BrowserRequest,
  all: readonly string[],
): Promise<ConsentRequest | undefined> {
  const { ctx, provider } = request;
  const interaction = await interactionOf(request);
  const { accountId, loginTs = 0 } = await request.session();
  // Times are in whole seconds: whoever was signed in when the app asked may have the same.
  const isSince = interaction.session === undefined && loginTs >= interaction.iat;
  if (accountId === undefined || (interaction.prompt.name === 'login' && !isSince)) {
    // Another person may sign in.
    if (interaction.session) await saved(interaction, { session: undefined });
    request.redirect(`/sign-in?return=${encodeURIComponent(ctx.path)}`);
    return undefined;
  }
  const client = await provider.Client.find(String(interaction.params['client_id']));
  if (!client) throw new PageFault('expired');
  const scopes = namesIn(interaction, all);
  return { interaction, client, accountId, signedInAt: loginTs, scopes };
}

async function saved(interaction: Interaction, changes: object): Promise<void> {
  await Object.assign(interaction, changes).save(interaction.exp - Math.floor(Date.now() / 1000));
}

/** @throws PageFault if the request has expired, or another browser started it */
async function interactionOf({ ctx, provider }: BrowserRequest): Promise<Interaction> {
  const interaction = await found(provider.interactionDetails(ctx.req, ctx.res));
  if (ctx.path.endsWith(`/${interaction.uid}`)) return interaction;
  throw new PageFault('expired');
}

/** @throws PageFault if the interaction has expired */
async function found<T>(wanted: Promise<T>): Promise<T> {
  try {
    return await wanted;
  } catch (error) {
    throw error instanceof loadLibrary().errors.SessionNotFound ? new PageFault('expired') : error;
  }
}

/** The requested scopes that are among `some`. */
function namesIn({ params }: Interaction, some: readonly string[]): string[] {
  return scopesIn(params['scope']).filter((scope) => some.includes(scope));
}

/** The host of a redirect URI on the web; undefined for an app on this device. */
function webHost(uri: string): string | undefined {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  return url?.protocol === 'https:' ? url.host : undefined;
}
