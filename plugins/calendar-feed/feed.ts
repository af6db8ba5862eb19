import ical, { foldLines, ICalEventTransparency } from 'ical-generator';

import { yieldToEventLoop } from '../../src/core/async';
import type { CareItem } from '../care';

/** Events written per turn of the event loop, which takes a few milliseconds. */
const TURN = 25;
/** Constant, so that a calendar changes only with its events. */
const STAMP = new Date('2026-01-01T00:00:00Z');
const END = 'END:VCALENDAR';

const TASKS: Readonly<Record<CareItem['care'], string>> = {
  watered: 'Water',
  fertilized: 'Fertilize',
  repotted: 'Repot',
  soil_change: 'Change the soil of',
  other: '',
};

/** Care as a calendar (RFC 5545): an all-day event for each occurrence, overdue ones today. */
export async function toICalendar(items: readonly CareItem[], today: string): Promise<string> {
  const calendar = ical({ name: 'Plant care', prodId: '//plant-care//api//EN' });
  const [head = ''] = calendar.toString().split(END);
  let text = head;
  for (const [index, item] of items.entries()) {
    if (index % TURN === TURN - 1) await yieldToEventLoop();
    text += `${foldLines(eventOf(item, today))}\r\n`;
  }
  return `${text}${END}\r\n`;

  function eventOf({ dueOn, location, label, plantName, ...item }: CareItem, day: string): string {
    const task = label === null ? `${TASKS[item.care]} ${plantName}` : `${label}: ${plantName}`;
    const event = calendar.createEvent({
      id: `${item.scheduleId ?? `${item.plantId}-${item.care}`}-${dueOn}@plant-care`,
      start: new Date(`${dueOn < day ? day : dueOn}T00:00:00Z`),
      allDay: true,
      summary: textOf(task),
      location: location === null ? null : textOf(location),
      description: dueOn < day ? `Due since ${dueOn}` : null,
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
