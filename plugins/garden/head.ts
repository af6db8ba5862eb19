import { type Html, markup } from '../pages';
import type { PageContext } from './page-context';

/** The links in the header of each page. */
export function linksOf({ base, title, texts, place: { person } }: PageContext): Html {
  return markup`<nav>
    <a href="${base}">${title}</a> <a href="${base}#plants">${texts.plants}</a>
    ${person && markup`<a href="/settings">${texts.settings}</a>`}
  </nav>`;
}

/** For whom the garden is open, and the others to choose from. */
export async function headOf(context: PageContext): Promise<Html | undefined> {
  const { texts, account, place, plugins } = context;
  const { person, garden } = place;
  const { id } = context.request.ctx.params as { id?: string };
  if (id !== undefined) return undefined;
  const end = garden?.until ? ` ${texts.openUntil(moment(context, garden.until))}` : '';
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

function moment(context: PageContext, at: Date): string {
  const { language, account } = context;
  const options = { dateStyle: 'long', timeStyle: 'short', timeZone: account.timezone } as const;
  return new Intl.DateTimeFormat(language, options).format(at);
}
