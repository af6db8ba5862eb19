import ical, { foldLines, ICalEventTransparency } from 'ical-generator';

import { yieldToEventLoop } from '../../src/core/async';
import type { Account } from '../../src/core/identity';
import type { CareItem } from '../care';
import { type Language, spokenOf } from '../pages';
import { timezoneOf } from './timezone';

/** Events written per turn of the event loop, which takes a few milliseconds. */
const TURN = 25;
/** Constant, so that a calendar changes only with its events. */
const STAMP = new Date('2026-01-01T00:00:00Z');
const END = 'END:VCALENDAR';

const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    name: 'Plant care',
    since: 'Due since',
    tasks: {
      watered: 'Water',
      fertilized: 'Fertilize',
      repotted: 'Repot',
      soil_change: 'Change the soil of',
    },
    colon: ':',
  },
  fr: {
    name: 'Soin des plantes',
    since: 'À faire depuis le',
    tasks: {
      watered: 'Arroser',
      fertilized: 'Fertiliser',
      repotted: 'Rempoter',
      soil_change: 'Changer la terre de',
    },
    colon: '\u00a0:',
  },
};

interface Texts {
  name: string;
  since: string;
  tasks: Readonly<Record<Exclude<CareItem['care'], 'other'>, string>>;
  colon: string;
}

type Reader = Pick<Account, 'language' | 'timezone'>;

/** Care as a calendar (RFC 5545): an all-day event for each occurrence, overdue ones today. */
export async function toICalendar(
  items: readonly CareItem[],
  today: string,
  { language, timezone }: Reader,
): Promise<string> {
  const { name, since, tasks, colon } = TEXTS[spokenOf(language)];
  const calendar = ical({ name, prodId: '//plant-care//api//EN' });
  const [head = ''] = calendar.toString().split(END);
  // A calendar has at least one component (RFC 5545, 3.6); all-day events need no time zone.
  let text = items.length > 0 ? head : `${head}${timezoneOf(timezone, today)}\r\n`;
  for (const [index, item] of items.entries()) {
    if (index % TURN === TURN - 1) await yieldToEventLoop();
    text += `${foldLines(eventOf(item, today))}\r\n`;
  }
  return `${text}${END}\r\n`;

  function eventOf({ dueOn, location, label, plantName, ...item }: CareItem, day: string): string {
    const task =
      item.care === 'other' || label !== null
        ? `${label ?? ''}${colon} ${plantName}`
        : `${tasks[item.care]} ${plantName}`;
    const event = calendar.createEvent({
      id: `${item.scheduleId ?? `${item.plantId}-${item.care}`}-${dueOn}@plant-care`,
      start: new Date(`${dueOn < day ? day : dueOn}T00:00:00Z`),
      allDay: true,
      summary: textOf(task),
      location: location === null ? null : textOf(location),
      description: dueOn < day ? `${since} ${dueOn}` : null,
      stamp: STAMP,
      transparency: ICalEventTransparency.TRANSPARENT,
    });
    return event.toString().trimEnd();
  }
}

/** A text as RFC 5545 allows it: without control characters, and with line breaks of one kind. */
function textOf(text: string): string {
  return text.replace(/\r\n?|[\u2028\u2029]/gu, '\n').replace(/[^\P{Cc}\n\t]/gu, ' ');
}
