import type { errors } from 'oidc-provider';

import { clientNameFault } from './client-name';
import { ownedScheme } from './redirect-schemes';

/** The grant types that are supported. */
export const GRANTS = ['authorization_code', 'refresh_token'];
/**
 * The prefix of ids of clients that operators create. Ids from the library contain no dot; those of
 * metadata documents are URLs.
 */
export const OPERATORS_CLIENT = 'operator.';
const MAX_REDIRECTS = 20;
/** The longest metadata, as JSON. */
const MAX_LENGTH = 8192;

/**
 * Adapts the metadata of a client, whether registered or from its metadata document, to what is
 * supported: a native client, so that loopback redirects may have any port, not limited to some scopes,
 * and without a secret unless an operator created it. What is null or empty counts as left out.
 *
 * @param isNew whether it is registered just now, or from a document; earlier releases accepted more
 * @throws InvalidClientMetadata
 */
export function adaptMetadata(
  metadata: Record<string, unknown>,
  isNew: boolean,
  InvalidClientMetadata: typeof errors.InvalidClientMetadata,
): void {
  for (const [key, value] of Object.entries(metadata)) {
    if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) {
      // The library takes defaults for what is undefined.
      metadata[key] = undefined;
    }
  }
  const { grant_types: grants, redirect_uris: redirects, jwks_uri: keys } = metadata;
  delete metadata['scope'];
  // The library would fetch it.
  delete metadata['sector_identifier_uri'];
  metadata['application_type'] = 'native';
  metadata['response_types'] = ['code'];
  metadata['response_modes'] = ['query'];
  metadata['grant_types'] = Array.isArray(grants)
    ? GRANTS.filter((grant) => grant === 'authorization_code' || grants.includes(grant))
    : GRANTS;
  const isOfOperator = String(metadata['client_id']).startsWith(OPERATORS_CLIENT);
  if (!isOfOperator && metadata['token_endpoint_auth_method'] !== 'private_key_jwt') {
    metadata['token_endpoint_auth_method'] = 'none';
    delete metadata['client_secret'];
    delete metadata['client_secret_expires_at'];
  }
  const fault = isNew ? metadataFault(metadata) : undefined;
  if (fault !== undefined) throw new InvalidClientMetadata(fault);
  if (Array.isArray(redirects)) {
    const usable = redirects.filter((uri) => ownedScheme(uri) === undefined);
    metadata['redirect_uris'] = usable;
    // A client of an earlier release keeps the grants that it has.
    if (usable.length === 0) {
      metadata['response_types'] = [];
      metadata['grant_types'] = ['refresh_token'];
    }
  }
  if (typeof keys === 'string' && !keys.startsWith('https:')) {
    throw new InvalidClientMetadata('jwks_uri must be an https address');
  }
  if (Array.isArray(redirects) && redirects.length > MAX_REDIRECTS) {
    throw new InvalidClientMetadata(`redirect_uris must have at most ${MAX_REDIRECTS} items`);
  }
  if (JSON.stringify(metadata).length > MAX_LENGTH) {
    throw new InvalidClientMetadata(`client metadata must have at most ${MAX_LENGTH} characters`);
  }
}

/** A sentence about the name or the redirect URIs of a new client that are not allowed. */
export function metadataFault(metadata: Readonly<Record<string, unknown>>): string | undefined {
  const { client_id: id, client_name: name, redirect_uris: redirects } = metadata;
  const [owned] = Array.isArray(redirects)
    ? redirects.flatMap((uri) => ownedScheme(uri) ?? [])
    : [];
  if (owned !== undefined) return `redirect_uris must not use the scheme ${owned}`;
  const fault = typeof name === 'string' ? clientNameFault(name, documentHost(id)) : undefined;
  return fault === undefined ? undefined : `client_name ${fault}`;
}

/** The host of a metadata document, by its client's id. */
export function documentHost(clientId: unknown): string | undefined {
  const id = String(clientId);
  return /^https:/i.test(id) && URL.canParse(id) ? new URL(id).hostname : undefined;
}
