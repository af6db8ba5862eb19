/**
 * Schemes that a protocol, a browser or an operating system owns, so that no app receives a code by them:
 * the permanent ones of IANA, those that web pages may register (HTML, "safelisted scheme"), and those of
 * browsers, stores and system apps.
 */
const OWNED = new Set(
  `aaa aaas about acap acct afp appstore bitcoin blob brave cab cabal callto cap cid cifs coap coaps
content crid dat data dav davs did dict dns dweb edge ethereum example facetime facetime-audio feed
filesystem file firefox firefox-focus ftp ftps geo git go googlechrome googlechromes gopher h323 iax icap im
imap imaps info intent ipfs ipn ipns ipp ipps irc irc6 ircs iris jabber jar javascript ldap ldaps
leaptofrogans livescript magnet mailto maps market matrix message microsoft mid mms mmst mocha msrp msrps
mtqp mupdate news nfs ni nih nntp opaquelocktoken openpgp4fpr opera pkcs11 pop pop3 pres prefs reload res
resource rlogin rmi rsync rtmp rtsp rtsps rtspu safari search service session sftp sgn shell shortcuts shttp
sieve sip sips skype sms smsto smb smtp snmp ssb ssh stun stuns svn tag teams tel telnet tftp thismessage tip
tn3270 turn turns tv urn vbscript vemmi view-source vivaldi vnc wais webcal webcals wpad ws wss wtai wyciwyg
xcon xcon-userid xmpp z39.50r z39.50s`.split(/\s+/),
);

/** How others of them begin, such as `chrome-extension` and `ms-settings`. */
const OWNED_FAMILY =
  /^(?:android[-.]|app-prefs|chrome|devtools|iris\.|isolated-app|itms|microsoft-|moz-|ms-|safari-|search-|soap\.|web\+|windows-|x-apple|x-help|x-safari|x-web|xmlrpc\.)/;

/** The scheme of a URI, if no app can own it. */
export function ownedScheme(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || !URL.canParse(uri)) return undefined;
  const scheme = new URL(uri).protocol.slice(0, -1);
  return OWNED.has(scheme) || OWNED_FAMILY.test(scheme) ? scheme : undefined;
}
