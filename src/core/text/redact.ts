import { unescape } from 'node:querystring';

/** Takes the credentials of a URI out of a text. */
export function redact(text: string, uri: string): string {
  const credentials = /:\/\/([^/?]*)@/.exec(uri)?.[1] ?? '';
  const password = credentials.slice(credentials.indexOf(':') + 1);
  return [credentials, password]
    .flatMap((secret) => [secret, unescape(secret)])
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

/** Parts of a query that hold secrets, such as those of MongoDB's driver. */
const SECRET_PARAMETER = /([?&][^=&]*(?:password|token|secret|properties)[^=&]*=)[^&]*/gi;

/** A URI without its password. What stands alone before the host may be one as well as a user. */
export function maskUri(uri: string): string {
  return uri
    .replace(/:\/\/(?:([^@:]*):)?.*@/, (_, user: string | undefined) =>
      user === undefined ? '://***@' : `://${user}:***@`,
    )
    .replace(SECRET_PARAMETER, '$1***');
}
