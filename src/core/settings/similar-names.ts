const SYNONYMS: Readonly<Record<string, string>> = { MONGO: 'MONGODB', URL: 'URI' };

/** Shorter names resemble variables of other programs: PORT and PORTS, HOST and HOME. */
const MIN_LENGTH = 6;
const LONG = 9;

/** The known name that an unknown one probably misspells, if any. */
export function intendedName(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return undefined;
  const given = name.toUpperCase();
  const [, withoutFile] = /^(.+)_FILE$/.exec(given) ?? [];
  if (withoutFile !== undefined && known.includes(withoutFile)) return withoutFile;
  const [nearest] = known
    .filter((each) => isNear(given, each))
    .sort((a, b) => distance(given, a) - distance(given, b));
  return nearest;
}

function isNear(given: string, known: string): boolean {
  if (known.length < MIN_LENGTH) return false;
  const tolerated = known.length < LONG ? 1 : 2;
  if (Math.abs(given.length - known.length) <= tolerated && distance(given, known) <= tolerated) {
    return true;
  }
  return sortedWords(given) === sortedWords(known) || haveSameStart(given, known);
}

/** `FILE_TLS_KEY` and `TLS_KEY_FILE`, `MONGO_URL` and `MONGODB_URI`. */
function sortedWords(name: string): string {
  const words = name.split('_').map((word) => SYNONYMS[word] ?? word);
  return words.sort().join('_');
}

/** Whether only the last word is missing or differs: `TLS_KEY`, `TLS_KEY_PATH`, `TLS_KEY_FILE`. */
function haveSameStart(given: string, known: string): boolean {
  const start = known.split('_').slice(0, -1);
  if (start.length < 2) return false;
  const words = given.split('_');
  return words.length <= start.length + 1 && start.every((word, index) => word === words[index]);
}

/** The Levenshtein distance. */
function distance(a: string, b: string): number {
  let costs = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [row, character] of Array.from(a).entries()) {
    const next = [row + 1];
    for (const [column, other] of Array.from(b).entries()) {
      const replaced = (costs[column] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(replaced, (costs[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    costs = next;
  }
  return costs.at(-1) ?? 0;
}
