import {
  type OAuthClientProvider,
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';

import type { Browser, Page } from './browser';

type Stored = NonNullable<Awaited<ReturnType<OAuthClientProvider['clientInformation']>>>;
type Discovered = Parameters<NonNullable<OAuthClientProvider['saveDiscoveryState']>>[0];
type Tokens = NonNullable<Awaited<ReturnType<OAuthClientProvider['tokens']>>>;

export const CALLBACK = 'http://127.0.0.1:41999/callback';

/** An assistant that connects to an address with the official TypeScript client. */
export class Assistant implements OAuthClientProvider {
  information: Stored | undefined;
  kept: Tokens | undefined;
  asked: URL | undefined;
  #verifier = '';
  #discovered: Discovered | undefined;

  constructor(
    readonly address: URL,
    readonly metadata: object = {},
  ) {}

  get redirectUrl(): string {
    return CALLBACK;
  }

  get clientMetadata() {
    return { client_name: 'Fern watcher', redirect_uris: [CALLBACK], ...this.metadata };
  }

  clientInformation = () => this.information;
  tokens = () => this.kept;
  codeVerifier = () => this.#verifier;

  saveClientInformation(information: Stored): void {
    this.information = information;
  }

  saveTokens(tokens: Tokens): void {
    this.kept = tokens;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  saveDiscoveryState(state: Discovered): void {
    this.#discovered = state;
  }

  discoveryState = () => this.#discovered;

  invalidateCredentials(scope: string): void {
    if (scope === 'all' || scope === 'tokens') this.kept = undefined;
    if (scope === 'all' || scope === 'client') this.information = undefined;
  }

  redirectToAuthorization(url: URL): void {
    this.asked = url;
  }

  /** Connects; if it has no token, `consent` authorizes it. */
  async connect(consent: (asked: URL) => Promise<Page>): Promise<Client> {
    const client = () => new Client({ name: 'test', version: '1' });
    const transport = () => new StreamableHTTPClientTransport(this.address, { authProvider: this });
    const first = client();
    const begun = transport();
    try {
      await first.connect(begun);
      return first;
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
    }
    if (!this.asked) throw new Error('The client did not ask for a person.');
    const { url } = await consent(this.asked);
    await begun.finishAuth(url.searchParams);
    const second = client();
    await second.connect(transport());
    return second;
  }
}

/** Signs in, and grants all requested scopes or some of them. */
export async function authorize(
  browser: Browser,
  asked: URL,
  { name, password, scope }: { name: string; password: string; scope?: string[] | undefined },
): Promise<Page> {
  let page = await browser.go(asked);
  if (page.url.pathname === '/sign-in') page = await browser.submit(page, { name, password });
  const scopes = scope === undefined ? {} : { scope };
  return browser.submit(page, { answer: 'allow', ...scopes });
}
