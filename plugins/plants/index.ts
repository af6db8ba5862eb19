import { rateSetting } from '../../src/core/settings/settings';
import { changedList } from '../../src/data/changes/changes';
import { on } from '../../src/data/writing/transaction';
import { tierQuota } from '../../src/data/model/quotas';
import { definePlugin } from '../../src/plugins/plugin';
import photosPlugin from '../photos';
import { photoAdded, photoDeleted } from '../photos/domain-events';
import { plantsChanged, plantCreated, plantDeleted } from './domain-events';
import { PLANT_QUOTA, plantArchived, plantLimitReached, plantModel, plantNotFound } from './model';
import { routes } from './routes';
import { plantView } from './schema';
import { PlantService } from './service';

export { unknownPlant } from '../photos';
export {
  archivedOf,
  archiveReason,
  type ArchiveReason,
  careOn,
  type CreatePlant,
  isRecurring,
  type LastCareFields,
  locationFilter,
  plant,
  type PlantDocument,
  type PlantView,
  RECURRING_CARE,
  RECURRING_TYPES,
  type RecurringCare,
  type SummaryView as PlantSummaryView,
  type UpdatePlant,
} from './schema';
export { placeOf } from './places';
export { PLANT_QUOTA, plantArchived, plantLimitReached, plantNotFound } from './model';
export type { PlantSummary } from './service';

/** The interface of plants for other plugins. */
export type Plants = Pick<
  PlantService,
  | 'all'
  | 'care'
  | 'copies'
  | 'existing'
  | 'exists'
  | 'fields'
  | 'idsInOrder'
  | 'insertBulk'
  | 'keep'
  | 'requireOwn'
  | 'summaries'
>;

const creations = rateSetting(
  'RATE_LIMIT_PLANTS_CREATE_MAX',
  60,
  'New plants a minute per account',
);

/** Plants and their locations. */
export default definePlugin<Plants>({
  name: 'plants',
  requires: ['photos'],
  budgets: { plants: creations },
  quotas: { [PLANT_QUOTA]: tierQuota(PLANT_QUOTA, { free: 25, pro: 1000 }, plantLimitReached) },
  errors: [plantNotFound, plantLimitReached, plantArchived],
  emits: [plantsChanged, plantCreated, plantDeleted],
  models: [plantModel],
  migrations: [{ name: '0001-revisions' }, { name: '0002-snoozes' }],
  instructions: "list_plants turns a plant's name into its id.",
  tag: { name: 'Plants', description: 'Plants and their locations.' },
  setup: (host) => {
    const plants = new PlantService(host, host.use(photosPlugin));
    return {
      exports: plants,
      operations: () => routes(plants),
      listeners: [
        on(photoAdded, (tx, { plantId }) => plants.requireOwn(tx, plantId, 'plantId')),
        on(photoDeleted, (tx, { photoId }) => plants.removePrimaryPhoto(tx, photoId)),
      ],
      changes: [
        changedList(plantModel, {
          view: plantView,
          embeds: { kind: 'photo', field: 'primaryPhotoId' },
          present: (tenant, documents) => plants.views.of(tenant, documents),
        }),
      ],
    };
  },
});
