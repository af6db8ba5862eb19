import { isUuid } from '../../src/core/ids';
import { type Html, markup } from '../pages';
import { button, careFields, careName, formOf } from './parts';
import type { Care, Event, PageContext } from './page-context';

/** How many plants a sentence names. */
const MAX_NAMES = 3;

/** What a form has just done, with a way back. */
export class News {
  /** The list in which it is shown: where the entry was that it is about. */
  readonly #list: string;
  readonly #at: number;

  constructor(
    readonly text: string,
    readonly undo: Html | undefined,
    place: string | undefined,
  ) {
    const [list = '', at = ''] = place?.split('.') ?? [];
    this.#list = list === 'log' ? list : 'due';
    this.#at = /^\d{1,3}$/.test(at) ? Number(at) : 0;
  }

  /** Inserts it among the entries of a list, if it belongs there. */
  among(list: 'due' | 'log', entries: readonly Html[]): Html[] {
    if (this.#list !== list) return [...entries];
    const entry = markup`<li class="entry done" id="news" tabindex="-1">
      <div>${this.text}</div>
      ${this.undo}
    </li>`;
    return entries.toSpliced(this.#at, 0, entry);
  }
}

/** The ids of the events that the query of a page says were just logged. */
export function idsOf(context: PageContext, name: 'did' | 'undone'): string[] {
  return (context.parameter(name) ?? '').split('.').filter(isUuid);
}

/** Reads the query of a page; only what is true is news, whoever wrote the link. */
export function newsOf(
  context: PageContext,
  {
    events,
    care,
    nameOf,
  }: { events: readonly Event[]; care: readonly Care[]; nameOf: (plantId: string) => string },
): News | undefined {
  const { texts } = context;
  const place = context.parameter('at');
  const did = new Set(idsOf(context, 'did'));
  const logged = events.filter(({ id }) => did.has(id));
  const [first] = logged;
  if (first) {
    const names = [...new Set(logged.map(({ plantId }) => nameOf(plantId)))];
    const more = names.length - MAX_NAMES;
    const shown =
      more > 0 ? `${names.slice(0, MAX_NAMES).join(', ')} ${texts.and(more)}` : context.list(names);
    const text = `${texts.types[first.type]}${texts.colon} ${shown}`;
    const eventId = logged.map(({ id }) => id);
    return new News(
      text,
      logged.every((each) => context.mayUndo(each))
        ? formOf(context, { eventId, ...at(place) }, button('undo', texts.undo, text))
        : undefined,
      place,
    );
  }
  const undone = idsOf(context, 'undone');
  if (undone.length > 0 && !events.some(({ id }) => undone.includes(id))) {
    const restore = button('restore', texts.restore);
    const [eventId, second] = undone;
    // One by one: of several, the care is due again.
    const form =
      eventId !== undefined && second === undefined
        ? formOf(context, { eventId, ...at(place) }, restore)
        : undefined;
    return new News(texts.undone, form, place);
  }
  const put = context.parameter('put');
  const item = care.find((each) => Object.values(careFields(each)).join('.') === put);
  if (!item || item.daysOverdue >= 0) return undefined;
  const text = `${item.plantName} – ${careName(context, item)}${texts.colon} ${context.fromToday(item.dueOn)}`;
  // Whose decision it was is not known here, so a sitter takes back none.
  const back = context.may('unsnooze')
    ? formOf(context, { ...careFields(item), ...at(place) }, button('unsnooze', texts.undo, text))
    : undefined;
  return new News(text, back, place);
}

function at(place: string | undefined): Record<string, string> {
  return place === undefined ? {} : { at: place };
}
