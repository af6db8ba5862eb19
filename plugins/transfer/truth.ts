/** How spreadsheets and people write true and false in each language; in English everywhere. */
const WORDS: Readonly<Record<string, readonly [yes: string, no: string]>> = {
  en: ['true yes 1', 'false no 0'],
  cs: ['pravda ano', 'nepravda ne'],
  da: ['sand ja', 'falsk nej'],
  de: ['wahr ja', 'falsch nein'],
  es: ['verdadero sí si', 'falso no'],
  fi: ['tosi kyllä', 'epätosi ei'],
  fr: ['vrai oui', 'faux non'],
  hu: ['igaz igen', 'hamis nem'],
  it: ['vero sì si', 'falso no'],
  nb: ['sann ja', 'usann nei'],
  nl: ['waar ja', 'onwaar nee'],
  no: ['sann ja', 'usann nei'],
  pl: ['prawda tak', 'fałsz nie'],
  pt: ['verdadeiro sim', 'falso não'],
  ru: ['истина да', 'ложь нет'],
  sv: ['sant ja', 'falskt nej'],
  tr: ['doğru evet', 'yanlış hayır'],
};

/** What a cell says, as JSON; undefined if neither. */
export function truthOf(cell: string, language: string): 'true' | 'false' | undefined {
  const word = cell.normalize('NFC').toLocaleLowerCase(language);
  const words = [WORDS['en'], WORDS[new Intl.Locale(language).language]];
  if (words.some((each) => each?.[0].split(' ').includes(word))) return 'true';
  return words.some((each) => each?.[1].split(' ').includes(word)) ? 'false' : undefined;
}
