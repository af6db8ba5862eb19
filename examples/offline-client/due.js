// @ts-check
'use strict';

/** @import { CareEvent, Copy, DueItem, Rule, Snooze } from './types' */

/**
 * All care that the copy's plants need, as `GET /api/care` lists it, each with the first day on which it is due.
 *
 * @param {Copy} copy
 * @param {string} timezone that of the account
 * @returns {DueItem[]}
 */
function dueCare(copy, timezone, today = dayIn(timezone, Date.now())) {
  /** @type {Record<string, CareEvent[]>} */
  const eventsOf = {};
  for (const event of Object.values(copy.events)) (eventsOf[event.plantId] ??= []).push(event);
  return Object.values(copy.plants).flatMap((plant) => {
    if (plant.archivedAt) return [];
    const snoozes = copy.snoozes.filter(({ plantId }) => plantId === plant.id);
    const schedules = Object.values(copy.schedules).filter(
      ({ plantId, active, endOn }) => plantId === plant.id && active && (endOn ?? today) >= today,
    );
    const frequencies = [
      { care: 'watered', everyDays: plant.wateringFrequencyDays },
      { care: 'fertilized', everyDays: plant.fertilizerFrequencyDays },
    ].filter(({ care, everyDays }) => everyDays && !schedules.some((each) => each.care === care));
    /** @type {Rule[]} */
    const rules = [...frequencies, ...schedules];
    return rules.flatMap((rule) => {
      const addedOn = dayIn(timezone, plant.createdAt);
      const dueOn = dueDay(rule, eventsOf[plant.id] ?? [], snoozes, addedOn);
      const { id: scheduleId = null, care, label = null } = rule;
      return dueOn === undefined ? [] : [{ plantId: plant.id, scheduleId, care, label, dueOn }];
    });
  });
}

/**
 * @param {string} timeZone
 * @param {string | number} moment
 */
function dayIn(timeZone, moment) {
  return new Date(moment).toLocaleDateString('sv', { timeZone }); // Swedes write YYYY-MM-DD.
}

/**
 * The first day on which the care of a rule is due.
 *
 * @param {Rule} rule
 * @param {CareEvent[]} events those of the plant
 * @param {Snooze[]} snoozes those of the plant
 * @param {string} addedOn the day on which the plant was added
 */
function dueDay(rule, events, snoozes, addedOn) {
  const snooze = snoozes.find(({ type, scheduleId }) =>
    scheduleId ? scheduleId === rule.id : !rule.id && type === rule.care,
  );
  if (snooze?.until) return snooze.until;
  const [last] = events
    .filter(({ type, scheduleId }) =>
      scheduleId && rule.id ? scheduleId === rule.id : type === rule.care,
    )
    .sort((a, b) => (a.occurredAt + a.occurredOn < b.occurredAt + b.occurredOn ? 1 : -1));
  const [, doneOn = ''] = [last?.occurredOn ?? '', snooze?.skippedOn ?? ''].sort();
  let day = rule.startOn ?? last?.occurredOn ?? addedOn;
  if (doneOn >= day) day = addDays(doneOn, 1);
  // Within 22 years every date has fallen on every weekday, after the longest interval.
  const [end = ''] = [rule.endOn ?? '9999-12-31', addDays(day, 22 * 366)].sort();
  while (day <= end && !isDue(rule, day, doneOn)) day = addDays(day, 1);
  return day <= end ? day : undefined;
}

/**
 * Whether care is due on a day, if it was done last on another day or, with `''`, never.
 *
 * @param {Rule} rule
 * @param {string} day
 * @param {string} doneOn
 */
function isDue({ everyDays, weekdays, monthDays, months, seasons = [] }, day, doneOn) {
  if (months && !months.includes(Number(day.slice(5, 7)))) return false;
  const season = seasons.find(({ from, to }) => isWithin(day.slice(5), from, to));
  const interval = season ? season.everyDays : everyDays;
  if (interval !== null) return interval > 0 && (doneOn === '' || addDays(doneOn, interval) <= day);
  const date = Number(day.slice(8));
  const isEnd = Number(addDays(day, 1).slice(8)) === 1; // Of a month; 31 is its last day.
  if (monthDays?.some((each) => each === date || (isEnd && (each === -1 || each > date))))
    return true;
  const weekday = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][new Date(day).getUTCDay()];
  const week = Math.ceil(date / 7); // 1mon is its first Monday, -1mon its last.
  const isLast = addDays(day, 7).slice(5, 7) !== day.slice(5, 7);
  const names = [`${weekday}`, `${week}${weekday}`, ...(isLast ? [`-1${weekday}`] : [])];
  return Boolean(weekdays?.some((each) => names.includes(each)));
}

/**
 * @param {string} date
 * @param {string} from
 * @param {string} to
 */
function isWithin(date, from, to) {
  const last = to === '02-28' ? '02-29' : to;
  return from <= last ? from <= date && date <= last : from <= date || date <= last;
}

/**
 * @param {string} day
 * @param {number} days
 */
function addDays(day, days) {
  return new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
}

module.exports = { dueCare };
