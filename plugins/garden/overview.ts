import { addDays, startOfDay } from '../../src/core/time';
import { groupBy } from '../../src/core/values';
import { LAST_DAY } from '../care';
import { MAX_AT_ONCE } from '../events';
import { type Html, markup } from '../pages';
import { type News, idsOf, newsOf } from './news';
import { deviceSection, PATHS } from './device';
import {
  button,
  careEntry,
  careName,
  dueText,
  eventEntry,
  formOf,
  plantLink,
  thumbnail,
} from './parts';
import type { Care, Event, Plant, PageContext } from './page-context';

/** How much of each list is shown at once. */
const MAX_DUE = 50;
const MAX_LOGGED = 20;
const MAX_PLANTS = 24;
const LOG_DAYS = 7;

/** The whole garden: what is due, what was logged, and the plants. */
export async function overview(context: PageContext): Promise<{
  content: Html;
  news: News | undefined;
  script?: string;
}> {
  const { account, today } = context;
  const [q, cursor, older] = ['q', 'plants', 'log'].map((name) => context.parameter(name));
  const from = startOfDay(addDays(today, 1 - LOG_DAYS), account.timezone).toISOString();
  const did = idsOf(context, 'did').length;
  const [{ items: care }, log, all, plants, device] = await Promise.all([
    // However far ahead: each plant shows its next.
    context.call('GET /api/care', { query: { dueBy: LAST_DAY } }),
    context.call('GET /api/events', {
      query: {
        from,
        limit: Math.min(Math.max(did, context.sitter ? MAX_AT_ONCE : MAX_LOGGED), MAX_AT_ONCE),
        ...(older !== undefined && { cursor: older }),
      },
    }),
    // The log names plants that have no care, or are archived.
    context.call('GET /api/plant-summaries', { query: { status: 'all' } }),
    context.call('GET /api/plants', {
      query: { sort: 'name', ...(q !== undefined && { q }) },
      page: {
        maxLength: Infinity,
        query: { limit: MAX_PLANTS, ...(cursor !== undefined && { cursor }) },
      },
    }),
    context.isOwn ? deviceSection(context) : undefined,
  ]);
  const names = new Map(all.map(({ id, name }) => [id, name]));
  const nameOf = (plantId: string): string => names.get(plantId) ?? '';
  const news = newsOf(context, { events: log.items, care, nameOf });
  const count = all.filter(({ archivedAt }) => archivedAt === undefined).length;
  const content = markup`<div class="columns">
    ${dueSection(context, { care, device }, news)} ${logSection(context, { ...log, nameOf, older }, news)}
    ${plantSection(context, { ...plants, care, count, q, cursor })}
  </div>`;
  return { content, news, ...(device && { script: PATHS.script }) };
}

function dueSection(
  context: PageContext,
  { care, device }: { care: readonly Care[]; device: Html | undefined },
  news: News | undefined,
): Html {
  const { texts } = context;
  const due = care.filter(({ daysOverdue }) => daysOverdue >= 0);
  const next = care[due.length];
  const entries = due.slice(0, MAX_DUE).map((each, at) => {
    const place = each.location !== null && ` · ${each.location}`;
    const about = markup`<strong>${careName(context, each)}</strong>
      ${plantLink(context, each.plantId, each.plantName)}<br />
      <small>${dueText(context, each)}${place}</small>`;
    return careEntry(context, each, at, about);
  });
  const nextOne =
    next &&
    markup` ${texts.nextOne} ${careName(context, next)}
      ${plantLink(context, next.plantId, next.plantName)}, ${context.fromToday(next.dueOn)}.`;
  return markup`<section aria-labelledby="due">
    <h2 id="due">${texts.due}${due.length > 0 && ` (${context.number(due.length)})`}</h2>
    ${due.length === 0 && markup`<p>${texts.nothingDue}${nextOne}</p>`}
    ${allWatered(context, due)}
    <ul role="list">
      ${news?.among('due', entries) ?? entries}
    </ul>
    ${due.length > MAX_DUE && markup`<p>${texts.moreDue}</p>`} ${device}
  </section>`;
}

/** One button for all plants that need water, which one Undo takes back. */
function allWatered(context: PageContext, due: readonly Care[]): Html | false {
  const ids = new Set(due.flatMap(({ type, plantId }) => (type === 'watered' ? plantId : [])));
  const plantId = [...ids].slice(0, MAX_AT_ONCE);
  if (plantId.length < 2 || !context.may('done')) return false;
  const text = `${context.texts.allWatered} (${plantId.length})`;
  return formOf(context, { plantId, type: 'watered' }, button('done', text));
}

interface Log {
  items: readonly Event[];
  nextCursor: string | null;
  nameOf: (plantId: string) => string;
  older: string | undefined;
}

function logSection(context: PageContext, log: Log, news: News | undefined): Html {
  const { texts } = context;
  const mayUndo = (event: Event): boolean => context.mayUndo(event);
  const { nextCursor, nameOf, older } = log;
  const items = context.sitter === undefined ? log.items : log.items.filter(mayUndo);
  const places = new Map(items.map((event, at) => [event, at]));
  const days = [...groupBy(items, ({ occurredOn }) => occurredOn)].map(([day, events]) => {
    const entries = events.map((event) =>
      eventEntry(context, event, places.get(event) ?? 0, nameOf(event.plantId)),
    );
    return markup`<h3>${context.day(day)}</h3>
      <ul role="list">
        ${entries}
      </ul>`;
  });
  return markup`<section class="log" aria-labelledby="log">
    <h2 id="log">${texts.log}</h2>
    <ul role="list">
      ${news?.among('log', [])}
    </ul>
    ${items.length === 0 && older === undefined && markup`<p>${texts.nothingLogged}</p>`} ${days}
    ${nextCursor !== null && markup`<p><a href="?log=${nextCursor}#log">${texts.older}</a></p>`}
  </section>`;
}

interface Plants {
  items: readonly Plant[];
  nextCursor: string | null;
  care: readonly Care[];
  /** How many active plants there are. */
  count: number;
  q: string | undefined;
  cursor: string | undefined;
}

function plantSection(context: PageContext, plants: Plants): Html {
  const { texts } = context;
  const { items, nextCursor, care, count, q, cursor } = plants;
  const next = new Map<string, Care>();
  for (const each of care) if (!next.has(each.plantId)) next.set(each.plantId, each);
  const cards = items.map(({ id, name, location, primaryPhoto }) => {
    const its = next.get(id);
    const when = its
      ? markup`${careName(context, its)}${texts.colon} ${dueText(context, its)}`
      : markup`${texts.noCare}`;
    return markup`<li class="plant">
      ${thumbnail(primaryPhoto)}
      <div>
        <strong>${plantLink(context, id, name)}</strong><br />
        <small>${when}${location !== null && ` · ${location}`}</small>
      </div>
    </li>`;
  });
  const none = q === undefined ? texts.noPlants : texts.notFound;
  const search = q === undefined ? '' : `&q=${encodeURIComponent(q)}`;
  const more = nextCursor !== null && `?plants=${nextCursor}${search}#plants`;
  return markup`<section aria-labelledby="plants">
    <h2 id="plants">${texts.plants} (${context.number(count)})</h2>
    ${(count > MAX_PLANTS || q !== undefined) && searchForm(context, q)}
    ${items.length === 0 && markup`<p>${none}</p>`}
    <ul role="list" class="cards">
      ${cards}
    </ul>
    <p class="pages">
      ${cursor !== undefined && markup`<a href="?${search.slice(1)}#plants">${texts.firstPlants}</a>`}
      ${more !== false && markup`<a href="${more}">${texts.morePlants}</a>`}
    </p>
    ${context.may('add') && addForm(context, count === 0)}
  </section>`;
}

function searchForm({ texts, base }: PageContext, q = ''): Html {
  return markup`<form role="search" action="${base}#plants">
    <label for="q">${texts.search}</label>
    <div class="entry">
      <input id="q" name="q" type="search" value="${q}" maxlength="100" />
      <button>${texts.find}</button>
    </div>
  </form>`;
}

function addForm(context: PageContext, isOpen: boolean): Html {
  const { texts } = context;
  const fields = markup`<label for="name">${texts.name}</label>
    <input id="name" name="name" required maxlength="100" autocomplete="off" />
    <label for="location">${texts.location}</label>
    <input id="location" name="location" maxlength="100" autocomplete="off" />
    <label for="every">${texts.everyDays}</label>
    <input id="every" name="everyDays" type="number" min="1" max="365" />
    ${button('add', texts.add, '', 'main')}`;
  return markup`<details ${isOpen && markup`open`}>
    <summary>${texts.addPlant}</summary>
    ${formOf(context, {}, fields)}
  </details>`;
}
