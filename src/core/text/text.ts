/**
 * Characters that are invisible, or change how others are shown, such as marks of writing direction. The
 * last two are blank, though Unicode lists them as symbols of Braille and music.
 */
const INVISIBLE =
  /(?! )[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;

/** The first invisible character of a text, except spaces, such as `U+202E`. */
export function invisibleCharacter(text: string): string | undefined {
  const [first] = text.match(INVISIBLE) ?? [];
  return first === undefined ? undefined : codePointOf(first);
}

/** A text with its invisible characters shown as code points, for a terminal. */
export function printable(text: string): string {
  return text.replace(INVISIBLE, (character) => `<${codePointOf(character)}>`);
}

/** The same for a text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function codePointOf(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${hex.padStart(4, '0')}`;
}

/**
 * Returns a test whether a text contains a part, ignoring case, accents and normal forms: `ß` is in
 * `STRASSE`, `ς` is `Σ`, and `é` is `e`.
 */
export function containing(part: string): (text: string) => boolean {
  const wanted = folded(part);
  return (text) => folded(text).includes(wanted);
}

const ASCII = /^[\0-\x7f]*$/;
/** Accents of Latin, Greek and Cyrillic letters; in other scripts, marks make other letters. */
const ACCENTS = /[\u0300-\u036f]+/g;

/** Ligatures, and letters with a stroke, that Unicode does not decompose. */
const PLAIN: Readonly<Record<string, string>> = {
  æ: 'ae',
  Æ: 'ae',
  œ: 'oe',
  Œ: 'oe',
  ø: 'o',
  Ø: 'o',
  ł: 'l',
  Ł: 'l',
  đ: 'd',
  Đ: 'd',
  ð: 'd',
  Ð: 'd',
  ħ: 'h',
  Ħ: 'h',
  ı: 'i',
  þ: 'th',
  Þ: 'th',
};
const NOT_PLAIN = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');

function folded(text: string): string {
  if (ASCII.test(text)) return text.toUpperCase();
  const bare = text
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .replace(NOT_PLAIN, (letter) => PLAIN[letter] ?? letter);
  // Lower case first: the upper case of some letters is that of others. Composed last, so that no
  // syllable of Hangul is the beginning of another.
  return bare.toLowerCase().toUpperCase().normalize('NFC');
}

export function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * The canonical form of a language tag (BCP 47), or undefined. Registered languages have two or three
 * letters, so `english` is not valid.
 */
export function languageTag(given: string): string | undefined {
  if (!/^[a-z]{2,3}(-|$)/i.test(given)) return undefined;
  try {
    return Intl.getCanonicalLocales(given)[0];
  } catch {
    return undefined;
  }
}
