import { countSetting, rateSetting } from '../../src/core/settings';
import { definePlugin } from '../../src/plugins/plugin';
import { plantDeleted } from './domain-events';
import { plantLimitReached, plantNotFound } from './errors';
import { PLANT_QUOTA, plantModel } from './model';
import { revisions } from './migrations/0001-revisions';
import { snoozes } from './migrations/0002-snoozes';
import { routes } from './routes';
import { PlantService } from './service';

export { plantNotFound, unknownPlant } from './errors';
export type { CareSchedule } from './care';
export {
  careOn,
  type CreatePlant,
  isRecurring,
  type LastCare,
  locationFilter,
  plant,
  type PlantDocument,
  RECURRING_CARE,
  RECURRING_TYPES,
  type RecurringCare,
} from './schema';
export { placeOf } from './places';
export { PLANT_QUOTA } from './model';
export type { PlantSummary } from './service';
export { type Snooze, snoozedUntil, snoozesOf } from './snoozes';

/** What other plugins may do with plants. */
export type Plants = Pick<
  PlantService,
  | 'care'
  | 'changes'
  | 'create'
  | 'existing'
  | 'exists'
  | 'idsInOrder'
  | 'insertBulk'
  | 'owners'
  | 'photos'
  | 'removePrimaryPhoto'
  | 'requireOwn'
  | 'summaries'
  | 'update'
  | 'view'
>;

const creations = rateSetting(
  'RATE_LIMIT_PLANTS_CREATE_MAX',
  60,
  'New plants a minute per account',
);
const freePlants = countSetting('TIER_FREE_PLANTS', 25, 'Plants that a free account may have');
const proPlants = countSetting('TIER_PRO_PLANTS', 1000, 'Plants that a pro account may have');

/** Plants and the locations they stand in. */
export default definePlugin<Plants>({
  name: 'plants',
  requires: [],
  scopes: {
    'plants:read': 'Read plants, their events and photos',
    'plants:write': 'Add, change and remove plants and photos',
  },
  budgets: { plants: creations },
  quotas: {
    [PLANT_QUOTA]: { limits: { free: freePlants, pro: proPlants }, error: plantLimitReached },
  },
  errors: [plantNotFound, plantLimitReached],
  emits: [plantDeleted],
  models: [plantModel],
  migrations: [revisions, snoozes],
  instructions:
    "Plants are one person's. list_plants turns a plant's name into its id, and says when each was lastWatered and had its lastEvent. delete_plant is final: ask first.",
  tag: { name: 'Plants', description: 'Plants, and the locations they stand in.' },
  setup: (host) => {
    const plants = new PlantService(host);
    return {
      exports: plants,
      operations: () => routes(plants),
    };
  },
});
