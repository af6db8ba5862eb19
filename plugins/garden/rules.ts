import type { Schedule, PageContext } from './page-context';

/** When a schedule is due, in words. */
export function ruleText(context: PageContext, schedule: Schedule): string {
  const { texts } = context;
  const { everyDays, weekdays, monthDays, months, seasons, active, endOn } = schedule;
  const parts = [
    everyDays !== null && texts.every(daysText(context, everyDays)),
    weekdays && texts.on(context.list(weekdays.map((each) => weekdayName(context, each)))),
    monthDays &&
      texts.onDays(
        context.list(monthDays.map((day) => (day === -1 ? texts.lastDay : String(day)))),
      ),
    months && texts.only(context.list(months.map((month) => monthName(context, month)))),
    ...seasons.map(({ from, to, everyDays: days }) => {
      const [first, last] = [from, to].map((date) =>
        // A leap year has them all.
        context.date(`2000-${date}`, { day: 'numeric', month: 'short' }),
      );
      const rule = days === 0 ? texts.pause : texts.every(daysText(context, days));
      return `${first} – ${last}${texts.colon} ${rule}`;
    }),
    (!active || (endOn !== null && endOn < context.today)) && texts.paused,
  ];
  return parts.filter((part) => part).join(', ');
}

export function daysText(context: PageContext, days: number): string {
  return context.number(days, { style: 'unit', unit: 'day', unitDisplay: 'long' });
}

/** The days of a week that begins on a Monday. */
const WEEK = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** A weekday of each week (`mon`), or of each month (`1mon`, `-1mon`). */
function weekdayName(context: PageContext, weekday: string): string {
  const day = `2001-01-0${1 + WEEK.indexOf(weekday.slice(-3))}`;
  const place = Object.entries(context.texts.places).find(
    ([each]) => each === weekday.slice(0, -3),
  );
  const name = context.date(day, { weekday: 'long' });
  return place ? context.texts.ofMonth(place[1], name) : name;
}

function monthName(context: PageContext, month: number): string {
  return context.date(`2000-${String(month).padStart(2, '0')}-01`, { month: 'long' });
}
