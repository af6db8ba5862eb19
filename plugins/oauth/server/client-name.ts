import { domainToASCII } from 'node:url';

import { tlds } from '@hapi/tlds';

import { invisibleCharacter } from '../../../src/core/text/text';

/** The longest name of a client, which people see. */
export const MAX_NAME = 100;

/** Names at the top of hosts that are not registered: reserved (RFC 6761), or of private networks. */
const SPECIAL_TLDS = new Set(
  'alt corp example home internal intranet invalid lan local localhost onion private test'.split(
    ' ',
  ),
);
/** Letters, digits and the signs of a keyboard, also in full width: others may look like a dot. */
const READABLE = /^[\p{L}\p{M}\x20-\x7e\uff01-\uff5e’–—®™©]*$/u;
/** The recommended scripts (UAX #31, table 5), together if they are written together. */
const SCRIPTS = [
  ['Latin', 'Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo'],
  ...'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew Kannada'
    .concat(' Khmer Lao Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan')
    .split(' ')
    .map((script) => [script]),
].map((scripts) => {
  const letters = scripts.map((script) => `\\p{sc=${script}}`).join('');
  return new RegExp(`^[${letters}ー\\P{L}]*$`, 'u');
});
/** A dot or a letter that looks like one, also among signs as in `a[.]b`. */
const DOT = /[^\p{L}\p{N}\s-]*[.ꞏॱ][^\p{L}\p{N}\s-]*/gu;
const HOST = /[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;

/**
 * Completes a sentence about the name of a client that people must not see.
 *
 * @param ownHost a host that it may name
 */
export function clientNameFault(name: string, ownHost?: string): string | undefined {
  if (name.length > MAX_NAME) return `must have at most ${MAX_NAME} characters`;
  if (name.trim() === '') return 'must not be blank';
  if (invisibleCharacter(name) !== undefined) return 'must not contain invisible characters';
  if (!READABLE.test(name)) return 'must contain only letters, digits and common signs';
  const isInOneScript = (word: string): boolean => SCRIPTS.some((letters) => letters.test(word));
  if (!name.split(' ').every(isInOneScript)) return 'must not mix scripts within a word';
  const foreign = hostsIn(name).some((host) => domainToASCII(host) !== ownHost);
  if (!foreign && !/[a-z]:\/\//i.test(name)) return undefined;
  return ownHost === undefined
    ? 'must not contain a domain name'
    : `must not contain another domain name than ${ownHost}`;
}

/** The name of a client as people may see it; undefined for one that an earlier release accepted. */
export function shownName(name: unknown, ownHost?: string): string | undefined {
  const isGood = typeof name === 'string' && clientNameFault(name, ownHost) === undefined;
  return isGood ? name : undefined;
}

/** What looks like the names of hosts in a text. */
function hostsIn(text: string): string[] {
  // Without accents, which are easily overlooked.
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/ı/g, 'i')
    .replace(DOT, '.')
    .toLowerCase();
  return (plain.match(HOST) ?? []).filter((host) => host.split('.').slice(1).some(isTopLevel));
}

/** Whether a label, or its beginning, as in `ai-official`, is that of a top-level domain. */
function isTopLevel(label: string): boolean {
  // Letters beyond ASCII may look like those of a domain.
  if (/(?=[^\0-\x7f])\p{sc=Latin}/u.test(label)) return true;
  const [first = ''] = label.split('-');
  return [label, first].some((each) => {
    const ascii = domainToASCII(each);
    return SPECIAL_TLDS.has(ascii) || tlds.has(ascii);
  });
}
