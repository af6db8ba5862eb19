/**
 * What cannot be seen, or changes how its neighbours are seen: also marks of writing direction. Two
 * characters are blank of which Unicode says no more than that they are symbols, in Braille and music.
 */
const INVISIBLE =
  /(?! )[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;

/** The first character of a text that cannot be seen, as `U+202E`; a space between others can. */
export function invisibleCharacter(text: string): string | undefined {
  const [first] = text.match(INVISIBLE) ?? [];
  return first === undefined ? undefined : codePointOf(first);
}

/** A text in which nothing is hidden from whoever reads it on a terminal. */
export function printable(text: string): string {
  return text.replace(INVISIBLE, (character) => `<${codePointOf(character)}>`);
}

function codePointOf(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${hex.padStart(4, '0')}`;
}

/**
 * A test whether texts contain a part, whatever the case of either. It is literal, and follows
 * Unicode: `ß` is in `STRASSE`, and `ς` is `Σ`.
 */
export function containing(part: string): (text: string) => boolean {
  const wanted = foldCase(part);
  return (text) => foldCase(text).includes(wanted);
}

function foldCase(text: string): string {
  // Lower case first: some letters have their upper case as several, or as that of another.
  return text.toLowerCase().toUpperCase();
}
