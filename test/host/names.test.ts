import { newUserNameFault } from '../../src/core/text/names';

const INVISIBLE: [what: string, character: string][] = [
  ['the blank of Braille', '\u2800'],
  ['the filler of Hangul', '\u3164'],
  ['the filler of initials', '\u115f'],
  ['the filler of vowels', '\u1160'],
  ['the halfwidth filler', '\uffa0'],
  ['the Mongolian separator', '\u180e'],
  ['a variation selector', '\ufe0f'],
  ['a variation selector beyond the first plane', '\u{e0100}'],
  ['a tag', '\u{e0041}'],
  ['the note head that is left out', '\u{1d159}'],
  ['a mark of right-to-left', '\u200f'],
  ['a space of another width', '\u2003'],
];

test.each(INVISIBLE)(
  'a new name with %s is refused, and the message names it',
  (_what, character) => {
    const code = character.codePointAt(0)?.toString(16).toUpperCase();
    expect(newUserNameFault(`ada${character}b`)).toBe(
      `must not contain the invisible character U+${code?.padStart(4, '0')}`,
    );
  },
);

test.each(['Ada Lovelace', 'Zoë', '吉田', 'علي', '한글', 'ada@example.com', '🌿'])(
  'a new user can be named %s',
  (name) => {
    expect(newUserNameFault(name)).toBeUndefined();
  },
);
