import { addDays } from '../../src/core/time';
import { groupBy } from '../../src/core/values';
import { type Html, markup } from '../pages';
import type { Event, Growth, PageContext } from './page-context';

/** The side of a day, and how far apart days are; where the first is. */
const DAY = 10;
const STEP = 12;
const LEFT = 34;
const BAR = { width: 24, step: 33, height: 90 };

const NO_CARE = new Set(['note', 'journal', 'growth']);

/** The twelve months up to this one (`YYYY-MM`), in order. */
export function lastMonths(today: string): string[] {
  const [year = 0, month = 0] = today.split('-').map(Number);
  return Array.from({ length: 12 }, (_, at) =>
    new Date(Date.UTC(year, month - 12 + at, 1)).toISOString().slice(0, 7),
  );
}

/** The days with care of twelve months: a row for each month, and a sentence that says the same. */
export function careDays(context: PageContext, events: readonly Event[]): Html {
  const { texts, today } = context;
  const care = events.filter(({ type }) => !NO_CARE.has(type));
  const byDay = groupBy(care, ({ occurredOn }) => occurredOn);
  const rows = lastMonths(today).map((month, row) => {
    const y = String(row * STEP);
    const days = daysOf(month, today).map((day) => {
      const x = String(LEFT + (Number(day.slice(-2)) - 1) * STEP);
      const types = [...new Set((byDay.get(day) ?? []).map(({ type }) => type))];
      const what = types.map((type) => texts.types[type]).join(', ');
      const kind = types.includes('watered') ? 'watered' : 'day';
      const hasOther = types.some((type) => type !== 'watered');
      return markup`<rect class="${kind}" x="${x}" y="${y}" width="${String(DAY)}" height="${String(DAY)}">${
        types.length > 0 && markup`<title>${context.day(day)}${texts.colon} ${what}</title>`
      }</rect>${hasOther && dot(Number(x), Number(y))}`;
    });
    const name = context.date(`${month}-01`, { month: 'short' });
    return markup`<text x="0" y="${String(row * STEP + DAY - 1)}">${name}</text>${days}`;
  });
  const counts = [...groupBy(care, ({ type }) => type)].map(
    ([type, { length }]) => `${texts.types[type]}${texts.colon} ${context.number(length)}`,
  );
  const sentence = `${texts.careDays} ${context.number(byDay.size)}. ${counts.join(' · ')}`;
  return markup`<figure>
    <svg viewBox="0 0 ${String(LEFT + 31 * STEP)} ${String(12 * STEP)}" aria-hidden="true">${rows}</svg>
    <figcaption>${sentence}<span aria-hidden="true">${key(texts.watered, texts.otherCare)}</span></figcaption>
  </figure>`;
}

function dot(x: number, y: number): Html {
  return markup`<circle cx="${String(x + DAY / 2)}" cy="${String(y + DAY / 2)}" r="2.500" />`;
}

/** What the marks mean. */
function key(watered: string, other: string): Html {
  const mark = (kind: string, inside: Html | false): Html =>
    markup`<svg class="key" viewBox="0 0 10 10"><rect class="${kind}" width="10" height="10" />${inside}</svg>`;
  return markup`<br />${mark('watered', false)} ${watered} ${mark('day', dot(0, 0))} ${other}`;
}

function daysOf(month: string, today: string): string[] {
  return Array.from({ length: 31 }, (_, at) => addDays(`${month}-01`, at)).filter(
    (day) => day.startsWith(month) && day <= today,
  );
}

/** How much a plant grew in each of twelve months, in each unit. */
export function growthBars(context: PageContext, growth: readonly Growth[]): Html[] {
  const months = lastMonths(context.today);
  return [...groupBy(growth, ({ unit }) => unit ?? '')].map(([unit, rows]) => {
    const totals = new Map(rows.map(({ month, total }) => [month, total]));
    const most = Math.max(...totals.values());
    const bars = months.map((month, at) => {
      const total = totals.get(month) ?? 0;
      const height = (total / most) * BAR.height;
      const [x, y] = [at * BAR.step + 4, 14 + BAR.height - height];
      const middle = String(x + BAR.width / 2);
      const name = context.date(`${month}-01`, { month: 'narrow' });
      return markup`<rect class="watered" x="${String(x)}" y="${y.toFixed(1)}"
          width="${String(BAR.width)}" height="${height.toFixed(1)}" />
        ${total > 0 && markup`<text class="middle" x="${middle}" y="${(y - 3).toFixed(1)}">${context.number(total)}</text>`}
        <text class="middle" x="${middle}" y="${String(BAR.height + 26)}">${name}</text>`;
    });
    const parts = rows.map(({ month, total }) => {
      const name = context.date(`${month}-01`, { month: 'long' });
      return `${name} ${context.number(total)} ${unit}`.trim();
    });
    return markup`<figure>
      <svg viewBox="0 0 ${String(12 * BAR.step)} ${String(BAR.height + 30)}" aria-hidden="true">${bars}</svg>
      <figcaption>${parts.join(' · ')}</figcaption>
    </figure>`;
  });
}
