import { resourceModel } from '../../../src/data/resource';
import { schedule } from './schema';

export const scheduleModel = resourceModel(
  'Schedule',
  'schedules',
  schedule,
  // Those of a plant, and those of all plants.
  [{ userId: 1, plantId: 1, createdAt: 1, _id: 1 }],
  { tracked: 'schedule' },
);
