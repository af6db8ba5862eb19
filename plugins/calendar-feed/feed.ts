import ical, { foldLines, ICalEventTransparency } from 'ical-generator';

import { yieldToEventLoop } from '../../src/core/async/event-loop';
import type { CareItem } from '../care';

/** How many events are written in a turn of the event loop: it takes a few milliseconds. */
const TURN = 25;
/** The same for ever, so that a calendar is the same as long as what it says is. */
const STAMP = new Date('2026-01-01T00:00:00Z');
const END = 'END:VCALENDAR';

const TASKS: Readonly<Record<CareItem['care'], string>> = {
  watered: 'Water',
  fertilized: 'Fertilize',
  repotted: 'Repot',
  soil_change: 'Change the soil of',
  other: '',
};

/** Care as a calendar (RFC 5545): an event that takes the day for each time, those overdue today. */
export async function calendarOf(items: readonly CareItem[], today: string): Promise<string> {
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
      summary: task,
      location,
      description: dueOn < day ? `Due since ${dueOn}` : null,
      stamp: STAMP,
      transparency: ICalEventTransparency.TRANSPARENT,
    });
    return event.toString().trimEnd();
  }
}
