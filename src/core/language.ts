/**
 * A language tag (BCP 47) in its canonical form; undefined where there is no such language. All
 * languages that are registered have two or three letters, so `english` is none.
 */
export function languageTag(given: string): string | undefined {
  if (!/^[a-z]{2,3}(-|$)/i.test(given)) return undefined;
  try {
    return Intl.getCanonicalLocales(given)[0];
  } catch {
    return undefined;
  }
}
