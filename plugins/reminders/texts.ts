import type { CareItem } from '../care';
import { type Language, spokenOf } from '../pages';

/** How many plants are named. */
const NAMED = 4;

const TEXTS = {
  en: {
    title: (plants: number) => (plants === 1 ? 'A plant needs care' : `${plants} plants need care`),
    more: (plants: number) => `${plants} more`,
    none: 'No plant needs care today. Reminders reach you here.',
    noTitle: 'A test',
    of: (garden: string, title: string) => `${garden}: ${title}`,
  },
  fr: {
    title: (plants: number) =>
      plants === 1 ? 'Une plante a besoin de soins' : `${plants} plantes ont besoin de soins`,
    more: (plants: number) => (plants === 1 ? '1 autre' : `${plants} autres`),
    none: 'Aucune plante n’a besoin de soins aujourd’hui. Les rappels vous parviennent ici.',
    noTitle: 'Un essai',
    of: (garden: string, title: string) => `${garden} : ${title}`,
  },
} as const satisfies Record<Language, object>;

/**
 * What a person reads about due care: the first plants, and how many more.
 *
 * @param garden the name of a shared garden; null for one's own
 */
export function textOf(
  items: readonly CareItem[],
  { language, garden }: { language: string; garden: string | null },
): { title: string; text: string; language: Language } {
  const spoken = spokenOf(language);
  const texts = TEXTS[spoken];
  const names = new Map(items.map(({ plantId, plantName }) => [plantId, plantName]));
  const shown = [...names.values()].slice(0, NAMED).map(inLine);
  const more = names.size - shown.length;
  const listed = more === 0 ? shown : [...shown, texts.more(more)];
  const title = names.size === 0 ? texts.noTitle : texts.title(names.size);
  return {
    title: garden === null ? title : texts.of(inLine(garden), title),
    text: names.size === 0 ? texts.none : new Intl.ListFormat(spoken).format(listed),
    language: spoken,
  };
}

/** A name in one line; none is long. */
function inLine(name: string): string {
  return name.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}
