import { addDays } from '../../../src/data/schema/days';

/** Gives events their days, which were counted by the time zone of the moment before. */
export const eventDays = addDays('0004-event-days', 'events', [
  {
    moment: 'occurredAt',
    dated: 'occurredOn',
    update: (occurredOn) => [{ $set: { occurredOn } }],
  },
]);
