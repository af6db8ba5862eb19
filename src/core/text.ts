/** What cannot be seen, or changes how its neighbours are seen: also marks of writing direction. */
const INVISIBLE = /(?! )[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

/** The first character of a text that cannot be seen, as `U+202E`; a space between others can. */
function invisibleCharacter(text: string): string | undefined {
  const [first] = text.match(INVISIBLE) ?? [];
  return first === undefined ? undefined : codePointOf(first);
}

/** A text in which nothing is hidden from whoever reads it on a terminal. */
export function printable(text: string): string {
  return text.replace(INVISIBLE, (character) => `<${codePointOf(character)}>`);
}

const MAX_USER_NAME = 128;

/** What is wrong with the name of a user, to complete a sentence; undefined where nothing is. */
export function userNameFault(name: string): string | undefined {
  return nameFault(name, MAX_USER_NAME);
}

/** The same of any name that people read on a terminal. */
export function nameFault(name: string, maxLength: number): string | undefined {
  if (name.length < 1 || name.length > maxLength) return `must have 1 to ${maxLength} characters`;
  const invisible = invisibleCharacter(name);
  if (invisible !== undefined) return `must not contain the invisible character ${invisible}`;
  return name.trim() === name ? undefined : 'must not begin or end with a space';
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
