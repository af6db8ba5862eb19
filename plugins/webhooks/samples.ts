import type { EventName } from './model';

const PLANT = { plantId: '0197a1e0-5b7c-7d43-8a50-3c1f0e9d2b61', name: 'Fern' };
const TODAY = '2026-06-01';

/** What an event of each type looks like. */
export const SAMPLES: Readonly<Record<EventName, object>> = {
  'care.due': {
    today: TODAY,
    count: 1,
    items: [
      {
        plantId: PLANT.plantId,
        plantName: PLANT.name,
        location: 'Kitchen',
        type: 'watered',
        everyDays: 7,
        lastDone: '2026-05-24T08:00:00.000Z',
        dueOn: '2026-05-31',
        daysOverdue: 1,
        snoozedUntil: null,
        scheduleId: null,
        care: 'watered',
        label: null,
      },
    ],
  },
  'plant.created': PLANT,
  'plant.deleted': PLANT,
  'photo.deleted': {
    photoId: '0197a1e0-5b7c-7d43-8a50-3c1f0e9d2b62',
    imagehostPublicId: 'garden/fern',
  },
  'account.deleted': {},
  'tier.changed': { tier: 'pro' },
  'account.changed': { revision: 1 },
};
