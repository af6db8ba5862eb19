import { isIPv6 } from 'node:net';

// The rules of RFC 3986, appendix A, by the names that they have there.
const PCT_ENCODED = '%[0-9A-Fa-f]{2}';
const UNRESERVED_OR_SUB_DELIM = "[A-Za-z0-9\\-._~!$&'()*+,;=]";
const REG_NAME = `(?:${UNRESERVED_OR_SUB_DELIM}|${PCT_ENCODED})`;
const USERINFO = `(?:${REG_NAME}|:)*@`;
const PCHAR = `(?:${REG_NAME}|[:@])`;
const QUERY_OR_FRAGMENT = `(?:${PCHAR}|[/?])*`;
const IPVFUTURE = `v[0-9A-Fa-f]+\\.(?:${UNRESERVED_OR_SUB_DELIM}|:)+`;

/** A host must be there: that of http and https is not empty (RFC 9110, 4.2). */
const HTTP_URI = new RegExp(
  `^https?://(?:${USERINFO})?` +
    `(?:\\[(?:(?<ipv6>[0-9A-Fa-f:.]+)|${IPVFUTURE})\\]|${REG_NAME}+)(?::[0-9]*)?` +
    `(?:/${PCHAR}*)*(?:\\?${QUERY_OR_FRAGMENT})?(?:#${QUERY_OR_FRAGMENT})?$`,
  'i',
);

/** Whether a text is a URI (RFC 3986) whose scheme is http or https. */
export function isHttpUri(text: string): boolean {
  const match = HTTP_URI.exec(text);
  const ipv6 = match?.groups?.['ipv6'];
  return match !== null && (ipv6 === undefined || isIPv6(ipv6));
}
