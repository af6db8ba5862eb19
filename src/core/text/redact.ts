import { unescape } from 'node:querystring';

/** Removes the credentials of a URI from a text. */
export function redact(text: string, uri: string): string {
  const credentials = /:\/\/([^/?]*)@/.exec(uri)?.[1] ?? '';
  const password = credentials.slice(credentials.indexOf(':') + 1);
  return [credentials, password]
    .flatMap((secret) => [secret, unescape(secret)])
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

/** Query parameters with secrets, such as those of MongoDB's driver. */
const SECRET_PARAMETER = /([?&][^=&]*(?:password|token|secret|properties)[^=&]*=)[^&]*/gi;

/** Masks the password in a URI. User information without a colon may be a password too. */
export function maskUri(uri: string): string {
  return uri
    .replace(/:\/\/(?:([^@:]*):)?.*@/, (_, user: string | undefined) =>
      user === undefined ? '://***@' : `://${user}:***@`,
    )
    .replace(SECRET_PARAMETER, '$1***');
}
