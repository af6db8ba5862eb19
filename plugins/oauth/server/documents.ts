import { AsyncLocalStorage } from 'node:async_hooks';

import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';

import { rateLimited } from '../../../src/core/errors';
import { fetchPublic } from '../../../src/core/http/public-fetch';
import { SwitchSetting } from '../../../src/core/settings/settings';
import { HOUR_MS } from '../../../src/core/time';
import type { StateStore } from '../state/store';

/** The longest documents, in bytes: the library knows them by these names. */
export const DOCUMENT_BYTES = { 'client_id metadata document': 5 * 1024, jwks_uri: 64 * 1024 };
const LIMITS = { timeoutMs: 2500, maxBytes: DOCUMENT_BYTES.jwks_uri };

/** How many documents an address may cause to be fetched. */
const FETCHES = { most: 20, seconds: 60 };
/** How many are fetched at once. */
const MAX_AT_ONCE = 32;
/** How many wait for their turn: ten seconds at most. */
const MAX_WAITING = 128;
/** How long a document that could not be fetched is not fetched again. */
const FAILED_MS = 60_000;
const MAX_FAILED = 1000;

/** Nothing came back from the host of a document. */
export class UnreachableHost extends Error {}

/**
 * Documents that are there, of assistants that do not register. Only a failure to fetch one of them says
 * something about the way out of this server: anybody may name a host that does not respond.
 */
const KNOWN: ReadonlySet<string> = new Set([
  'https://chatgpt.com/oauth/codex/client.json',
  'https://claude.ai/oauth/claude-code-client-metadata',
  'https://claude.ai/oauth/mcp-oauth-client-metadata',
  'https://vscode.dev/oauth/client-metadata.json',
]);

const cutOff = (document: string): string =>
  `The server could not fetch ${document}, by which an assistant identifies itself: if it cannot reach other hosts, set CLIENT_METADATA_DOCUMENTS=false, and clients will register instead.`;

const NOT_FOUND = new Error('The document could not be fetched a moment ago.');

export const documentsSetting = new SwitchSetting(
  'CLIENT_METADATA_DOCUMENTS',
  true,
  'Whether clients may identify themselves by a metadata document, which the server fetches; false for a server that reaches no other host: clients then register',
);

/** Fetches what clients name: their metadata documents and keys. */
export class Documents {
  readonly #store: StateStore;
  readonly #causes = new AsyncLocalStorage<string>();
  readonly #turns = pLimit(MAX_AT_ONCE);
  readonly #failed = new LRUCache<string, Error>({ max: MAX_FAILED, ttl: FAILED_MS });
  /** The known document that could not be fetched last, unless a host was reached since. */
  #unreached: { document: string; until: number } | undefined;

  constructor(store: StateStore) {
    this.#store = store;
  }

  /** Runs work whose fetches spend the budget of a client's address. */
  causedBy<T>(address: string, work: () => Promise<T>): Promise<T> {
    return this.#causes.run(address, work);
  }

  /** A `fetch` for the library. Its deadline is replaced by one that begins when a fetch does. */
  readonly fetch: typeof globalThis.fetch = async (url, options) => {
    const name = url instanceof Request ? url.url : String(url);
    const failure = this.#failed.get(name);
    if (failure) throw failure;
    // Such a refusal says nothing about the document.
    if (this.#turns.pendingCount >= MAX_WAITING) throw rateLimited.error();
    if (!(await this.#store.spend(`document ${this.#causes.getStore() ?? ''}`, FETCHES))) {
      throw rateLimited.error();
    }
    return this.#turns(() => this.#fetch(name, new Headers(options?.headers)));
  };

  get isAnnounced(): boolean {
    return this.#store.host.settings.of(documentsSetting);
  }

  /** What operators should know: within the last hour a known document could not be fetched, nor any since. */
  get warnings(): string[] {
    const unreached = this.#unreached;
    const isCutOff = this.isAnnounced && unreached !== undefined && unreached.until > Date.now();
    return isCutOff ? [cutOff(unreached.document)] : [];
  }

  async #fetch(name: string, headers: Headers): Promise<Response> {
    try {
      const response = await fetchPublic(name, headers, LIMITS);
      this.#unreached = undefined;
      if (response.status !== 200) this.#failed.set(name, NOT_FOUND);
      return response;
    } catch (cause) {
      if (KNOWN.has(name)) this.#unreached = { document: name, until: Date.now() + HOUR_MS };
      const failure = new UnreachableHost('The document could not be fetched.', { cause });
      this.#failed.set(name, failure);
      throw failure;
    }
  }
}
