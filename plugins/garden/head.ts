import { type Html, markup } from '../pages';
import type { Visit } from './visit';

/** The links in the header of each page. */
export function linksOf({ base, title, texts, place: { person } }: Visit): Html {
  return markup`<nav>
    <a href="${base}">${title}</a> <a href="${base}#plants">${texts.plants}</a>
    ${person && markup`<a href="/settings">${texts.settings}</a>`}
  </nav>`;
}

/** For whom the garden is open, and the others to choose from. */
export async function headOf(visit: Visit): Promise<Html | undefined> {
  const { texts, account, place, plugins } = visit;
  const { person, garden } = place;
  const { id } = visit.request.ctx.params as { id?: string };
  if (id !== undefined) return undefined;
  const end = garden?.until ? ` ${texts.openUntil(moment(visit, garden.until))}` : '';
  if (!person) return markup`<p>${texts.sitting(garden?.by.name ?? '')}${end}</p>`;
  const gardens = await plugins.gardens.list(person);
  const choice =
    gardens.length > 1 &&
    gardens.map(({ id: of, name, role }) => {
      const isOwn = role === 'owner';
      const path = isOwn ? '/garden' : `/gardens/${encodeURIComponent(of)}`;
      const here = of === account.id && markup`aria-current="page"`;
      return markup`<a href="${path}" ${here}>${isOwn ? texts.title : texts.gardenOf(name)}</a>`;
    });
  return markup`${choice && markup`<nav class="pages" aria-label="${texts.gardens}">${choice}</nav>`}
    ${garden && markup`<p>${texts.mayHere[garden.role]}${end}</p>`}`;
}

function moment(visit: Visit, at: Date): string {
  const { language, account } = visit;
  const options = { dateStyle: 'long', timeStyle: 'short', timeZone: account.timezone } as const;
  return new Intl.DateTimeFormat(language, options).format(at);
}
