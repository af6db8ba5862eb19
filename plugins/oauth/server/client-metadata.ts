import type { errors } from 'oidc-provider';

import { hasMixedScripts, invisibleCharacter } from '../../../src/core/text/text';

/** The grant types that are supported. */
export const GRANTS = ['authorization_code', 'refresh_token'];
/**
 * The prefix of ids of clients that operators create. Ids from the library contain no dot; those of
 * metadata documents are URLs.
 */
export const OPERATORS_CLIENT = 'operator.';
/** The longest name of a client, which people see. */
export const MAX_NAME = 100;
const MAX_REDIRECTS = 20;
/** The longest metadata, as JSON. */
const MAX_LENGTH = 8192;

/**
 * Adapts the metadata of a client, whether registered or from its metadata document, to what is
 * supported: a native client, so that loopback redirects may have any port, not limited to some scopes,
 * and without a secret unless an operator created it.
 *
 * @throws InvalidClientMetadata
 */
export function adaptMetadata(
  metadata: Record<string, unknown>,
  InvalidClientMetadata: typeof errors.InvalidClientMetadata,
): void {
  const {
    client_name: name,
    grant_types: grants,
    redirect_uris: redirects,
    jwks_uri: keys,
  } = metadata;
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
  if (typeof name === 'string' && name.length > MAX_NAME) {
    throw new InvalidClientMetadata(`client_name must have at most ${MAX_NAME} characters`);
  }
  if (typeof name === 'string' && invisibleCharacter(name) !== undefined) {
    throw new InvalidClientMetadata('client_name must not contain invisible characters');
  }
  if (typeof name === 'string' && hasMixedScripts(name)) {
    throw new InvalidClientMetadata('client_name must not mix scripts within a word');
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
