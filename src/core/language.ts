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
