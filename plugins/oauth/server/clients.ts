import { randomBytes } from 'node:crypto';

import { OperatorError } from '../../../src/core/errors';
import { hashOf } from '../../../src/core/identity';
import { payloadOf, type StateStore } from '../state/store';
import { metadataFault, OPERATORS_CLIENT } from './client-metadata';
import { loadLibrary } from './library';
import { NEVER, type Providers } from './provider';

/** A client that people can authorize, as operators see it. */
interface ClientView {
  /** Its client_id. */
  id: string;
  name: string;
  redirectUris: string[];
  createdAt: Date;
  /** When it is deleted unless it is used; null for one that an operator created. */
  expiresAt: Date | null;
}

interface NewClient {
  name: string;
  redirectUris: string[];
  hasSecret: boolean;
}

/** Clients, as operators create, list and delete them. */
export class Clients {
  readonly #store;
  readonly #providers;

  constructor(store: StateStore, providers: Providers) {
    this.#store = store;
    this.#providers = providers;
  }

  /**
   * Creates a client that people can authorize.
   *
   * @param origin that of the authorization server
   * @returns the client, with its secret this once
   * @throws OperatorError if the library refuses its metadata
   */
  async create(
    { name, redirectUris, hasSecret }: NewClient,
    origin: string,
  ): Promise<ClientView & { secret?: string }> {
    const id = OPERATORS_CLIENT + randomBytes(16).toString('base64url');
    const secret = hasSecret ? randomBytes(32).toString('base64url') : undefined;
    const metadata = {
      client_id: id,
      client_name: name,
      redirect_uris: redirectUris,
      ...(secret !== undefined && {
        token_endpoint_auth_method: 'client_secret_basic',
        client_secret: hashOf(secret),
      }),
    };
    await this.#check(metadata, origin);
    const document = { kind: 'Client', payload: JSON.stringify(metadata), expiresAt: NEVER };
    await this.#store.host.transactShared(async (tx) => {
      await this.#store.put(tx, id, document);
      tx.audit({ action: 'client.created', target: clientTarget(id), changes: { hasSecret } });
    });
    const view = { id, name, redirectUris, createdAt: new Date(), expiresAt: null };
    return { ...view, ...(secret !== undefined && { secret }) };
  }

  /** The clients that operators created or that registered themselves, oldest first. */
  async list(): Promise<ClientView[]> {
    const good = { kind: 'Client', expiresAt: { $gt: new Date() } };
    const found = await this.#store.documents.find(good).sort({ createdAt: 1 }).lean();
    return found.map((document) => {
      const { client_id: id, client_name: name, redirect_uris: uris } = payloadOf(document);
      const { createdAt, expiresAt } = document;
      return {
        id: String(id),
        name: typeof name === 'string' ? name : '',
        redirectUris: Array.isArray(uris) ? uris.map(String) : [],
        createdAt,
        expiresAt: expiresAt < NEVER ? expiresAt : null,
      };
    });
  }

  /**
   * Deletes a client and revokes all of its tokens.
   *
   * @returns how many grants were revoked; undefined if there is neither the client nor a grant
   */
  async delete(id: string): Promise<number | undefined> {
    const { documents, host } = this.#store;
    // Before its grants, so that it gets no other meanwhile.
    const isDeleted = await host.transactShared(async (tx) => {
      const client = { _id: hashOf(id), kind: 'Client' };
      const { deletedCount } = await documents.deleteOne(client, { session: tx.session });
      const isThere = deletedCount === 1;
      if (isThere) tx.audit({ action: 'client.deleted', target: clientTarget(id) });
      return isThere;
    });
    const grants = (await documents.find({ kind: 'Grant' }).lean()).filter(
      (grant) => payloadOf(grant)['clientId'] === id,
    );
    for (const { _id: grant } of grants) await this.#store.endGrant(grant);
    return isDeleted || grants.length > 0 ? grants.length : undefined;
  }

  /** @throws OperatorError if the library refuses the metadata */
  async #check(metadata: Record<string, unknown>, origin: string): Promise<void> {
    const fault = metadataFault(metadata);
    if (fault !== undefined) throw new OperatorError(`The client cannot be created: ${fault}.`);
    const provider = await this.#providers.at(origin);
    try {
      // The types of the library omit the constructor.
      Reflect.construct(provider.Client, [metadata]);
    } catch (error) {
      if (!(error instanceof loadLibrary().errors.InvalidClientMetadata)) throw error;
      throw new OperatorError(
        `The client cannot be created: ${error.error_description ?? error.message}.`,
      );
    }
  }
}

function clientTarget(id: string) {
  return { type: 'client', id };
}
