import type { Schedule, Visit } from './visit';

/** When a schedule is due, in words. */
export function ruleText(visit: Visit, schedule: Schedule): string {
  const { texts } = visit;
  const { everyDays, weekdays, monthDays, months, seasons, active, endOn } = schedule;
  const parts = [
    everyDays !== null && texts.every(daysText(visit, everyDays)),
    weekdays && texts.on(visit.list(weekdays.map((each) => weekdayName(visit, each)))),
    monthDays &&
      texts.onDays(visit.list(monthDays.map((day) => (day === -1 ? texts.lastDay : String(day))))),
    months && texts.only(visit.list(months.map((month) => monthName(visit, month)))),
    ...seasons.map(({ from, to, everyDays: days }) => {
      const [first, last] = [from, to].map((date) =>
        // A leap year has them all.
        visit.date(`2000-${date}`, { day: 'numeric', month: 'short' }),
      );
      const rule = days === 0 ? texts.pause : texts.every(daysText(visit, days));
      return `${first} – ${last}${texts.colon} ${rule}`;
    }),
    (!active || (endOn !== null && endOn < visit.today)) && texts.paused,
  ];
  return parts.filter((part) => part).join(', ');
}

export function daysText(visit: Visit, days: number): string {
  return visit.number(days, { style: 'unit', unit: 'day', unitDisplay: 'long' });
}

/** The days of a week that begins on a Monday. */
const WEEK = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** A weekday of each week (`mon`), or of each month (`1mon`, `-1mon`). */
function weekdayName(visit: Visit, weekday: string): string {
  const day = `2001-01-0${1 + WEEK.indexOf(weekday.slice(-3))}`;
  const place = Object.entries(visit.texts.places).find(([each]) => each === weekday.slice(0, -3));
  const name = visit.date(day, { weekday: 'long' });
  return place ? visit.texts.ofMonth(place[1], name) : name;
}

function monthName(visit: Visit, month: number): string {
  return visit.date(`2000-${String(month).padStart(2, '0')}-01`, { month: 'long' });
}
