import { LAST_DAY } from '../care';
import { type Html, markup } from '../pages';
import { type News, newsOf } from './news';
import { button, careEntry, careName, dueText, eventEntry, formOf, photoOf } from './parts';
import { careDays, growthBars, lastMonths } from './pictures';
import { daysText, ruleText } from './rules';
import type { Care, Event, Plant, Schedule, PageContext } from './page-context';

/** How many events are listed; more are read for the picture of a year, at most some pages. */
const MAX_LISTED = 10;
const PAGE = 100;
const MAX_PAGES = 5;

/** A plant: its photo, care, events, and pictures of twelve months. */
export async function plantPage(
  context: PageContext,
  id: string,
): Promise<{ title: string; content: Html; news: News | undefined }> {
  const params = { id };
  const plant = await context.call('GET /api/plants/{id}', { params });
  const [{ items: all }, schedules, events, { growthSeries }] = await Promise.all([
    context.call('GET /api/care', {
      query: { dueBy: LAST_DAY, ...(plant.location !== null && { location: plant.location }) },
    }),
    context.call('GET /api/plants/{id}/schedules', { params }),
    eventsOf(context, id),
    context.sitter === undefined
      ? context.call('GET /api/insights', { query: { sections: 'growthSeries', plantId: id } })
      : { growthSeries: [] },
  ]);
  const care = all.filter(({ plantId }) => plantId === id);
  const news = newsOf(context, { events, care, nameOf: () => plant.name });
  const { texts } = context;
  const shown =
    context.sitter === undefined ? events : events.filter((each) => context.mayUndo(each));
  const listed = shown.slice(0, MAX_LISTED).map((event, at) => eventEntry(context, event, at));
  const growth = growthBars(context, growthSeries);
  const content = markup`${aboutPlant(context, plant)}
    <div class="columns">
    <section aria-labelledby="care">
      <h2 id="care">${texts.care}</h2>
      ${careList(context, care, schedules, news)}
    </section>
    <section class="log" aria-labelledby="events">
      <h2 id="events">${texts.events}</h2>
      <ul role="list">
        ${news?.among('log', listed) ?? listed}
      </ul>
      ${context.may('note') && noteForm(context, plant)}
    </section>
    ${
      context.sitter === undefined &&
      markup`<section aria-labelledby="year">
      <h2 id="year">${texts.year}</h2>
      ${careDays(context, events)}
    </section>`
    }
    ${
      growth.length > 0 &&
      markup`<section aria-labelledby="growth">
      <h2 id="growth">${texts.growth}</h2>
      ${growth}
    </section>`
    }
    </div>`;
  return { title: plant.name, content, news };
}

/** The events of twelve months, newest first, and older ones of the last page. */
async function eventsOf(context: PageContext, id: string): Promise<Event[]> {
  const [first = ''] = lastMonths(context.today);
  const events: Event[] = [];
  let query: object = { limit: PAGE };
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page = await context.call('GET /api/plants/{id}/events', { params: { id }, query });
    events.push(...page.items);
    const { nextCursor: cursor } = page;
    if (cursor === null || (events.at(-1)?.occurredOn ?? '') < first) break;
    query = { limit: PAGE, cursor };
  }
  return events;
}

function aboutPlant(context: PageContext, plant: Plant): Html {
  const { texts } = context;
  const { name, species, location, wateringNotes, careNotes, notes, archivedAt } = plant;
  const facts = [species, location].filter((each) => each !== null).join(' · ');
  const paragraphs = [wateringNotes, careNotes, notes].flatMap((text) =>
    text === null ? [] : markup`<p>${text}</p>`,
  );
  return markup`<div class="about">
    ${facts !== '' && markup`<p>${facts}</p>`}
    ${archivedAt !== undefined && markup`<p>${texts.archived} ${context.day(archivedAt.slice(0, 10))}.</p>`}
    ${photoOf(context, name, plant.primaryPhoto)} ${paragraphs}
  </div>`;
}

/** Care that comes, and schedules of which none does. */
function careList(
  context: PageContext,
  care: readonly Care[],
  schedules: readonly Schedule[],
  news: News | undefined,
): Html {
  const rules = new Map(schedules.map((each) => [each.id, ruleText(context, each)]));
  const entries = care.map((each, at) => {
    const rule =
      rules.get(each.scheduleId ?? '') ?? context.texts.every(daysText(context, each.everyDays));
    const about = markup`<strong>${careName(context, each)}</strong> ${dueText(context, each)}<br />
      <small>${rule}</small>`;
    return careEntry(context, each, at, about);
  });
  const others = schedules.filter(({ id }) => !care.some(({ scheduleId }) => scheduleId === id));
  const resting = others.map(
    (each) => markup`<li class="care">
      <div><strong>${careName(context, each)}</strong><br /><small>${rules.get(each.id)}</small></div>
    </li>`,
  );
  const list = [...entries, ...resting];
  const isNone = care.length === 0 && others.length === 0;
  return markup`${isNone && markup`<p>${context.texts.noCare}</p>`}
    <ul role="list">
      ${news?.among('due', list) ?? list}
    </ul>`;
}

function noteForm(context: PageContext, { id }: Plant): Html {
  const { texts } = context;
  const fields = markup`<label for="note">${texts.note}</label>
    <textarea id="note" name="text" required maxlength="2000" rows="3"></textarea>
    ${button('note', texts.save, '', 'main')}`;
  return markup`<details>
    <summary>${texts.writeNote}</summary>
    ${formOf(context, { plantId: id, at: 'log.0' }, fields)}
  </details>`;
}
