import { usageOf } from '../../src/data/usage';
import { definePlugin } from '../../src/plugins/define';
import { countSetting, rateSetting } from '../../src/settings';
import photosPlugin from '../photos';
import { plantLimitReached, plantNotFound, unknownPlant } from './errors';
import { plantModel } from './model';
import { routes } from './routes';
import { PlantService } from './service';

const creations = rateSetting(
  'RATE_LIMIT_PLANTS_CREATE_MAX',
  60,
  'New plants a minute per account',
);
const freePlants = countSetting('TIER_FREE_PLANTS', 25, 'Plants that a free account may have');
const proPlants = countSetting('TIER_PRO_PLANTS', 1000, 'Plants that a pro account may have');

/** Plants and the locations they stand in. */
export default definePlugin<PlantService>({
  name: 'plants',
  requires: ['photos'],
  scopes: {
    'plants:read': 'Read plants, their events and photos',
    'plants:write': 'Add, change and remove plants and photos',
  },
  budgets: { plants: creations },
  quotas: { plants: { limits: { free: freePlants, pro: proPlants }, error: plantLimitReached } },
  errors: [plantNotFound, plantLimitReached],
  models: [plantModel],
  setup: (host) => {
    const plants = new PlantService(host, host.offers(photosPlugin));
    return {
      offers: plants,
      operations: routes(plants),
      derived: [usageOf('plants', (tx) => plants.count(tx))],
      listeners: {
        'photo.adding': async (tx, { plantId }) => {
          if (plantId === null || (await plants.exists(tx.account.id, plantId, tx.session))) return;
          throw unknownPlant.error('plantId names a plant that is not yours.');
        },
      },
    };
  },
});
