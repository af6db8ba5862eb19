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
