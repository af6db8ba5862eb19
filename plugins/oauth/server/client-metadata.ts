import type { errors } from 'oidc-provider';

import { hasMixedScripts, invisibleCharacter } from '../../../src/core/text/text';

/** The grants that there are. */
export const GRANTS = ['authorization_code', 'refresh_token'];
/**
 * What the ids of programs begin with that operators made. The library's own have no dot, and those of
 * metadata documents are addresses.
 */
export const OPERATORS_CLIENT = 'operator.';
/** How long the name of a program may be that people are shown. */
export const MAX_NAME = 100;
const MAX_REDIRECTS = 20;
/** Of all that a program says of itself, as JSON. */
const MAX_LENGTH = 8192;

/**
 * Makes of what a program says of itself what it may be here, be it registered or in a document of
 * its own: a native one, whose loopback address may have any port, with no scope that it could not ask
 * for later, and without a secret, which only operators give. Whatever else it asks for it does not get.
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
    throw new InvalidClientMetadata('client_name must have visible characters alone');
  }
  if (typeof name === 'string' && hasMixedScripts(name)) {
    throw new InvalidClientMetadata('client_name must not mix scripts within a word');
  }
  if (typeof keys === 'string' && !keys.startsWith('https:')) {
    throw new InvalidClientMetadata('jwks_uri must be an https address');
  }
  if (Array.isArray(redirects) && redirects.length > MAX_REDIRECTS) {
    throw new InvalidClientMetadata(`redirect_uris must be at most ${MAX_REDIRECTS}`);
  }
  if (JSON.stringify(metadata).length > MAX_LENGTH) {
    throw new InvalidClientMetadata(`client metadata must have at most ${MAX_LENGTH} characters`);
  }
}
