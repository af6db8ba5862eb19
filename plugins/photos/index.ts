import { usageOf } from '../../src/data/usage';
import { definePlugin } from '../../src/plugins/define';
import { countSetting } from '../../src/settings';
import { invalidCrop, photoLimitReached, photoNotFound } from './errors';
import { photoModel } from './model';
import { routes } from './routes';
import { PhotoService } from './service';

const freePhotos = countSetting('TIER_FREE_PHOTOS', 250, 'Photos that a free account may have');
const proPhotos = countSetting('TIER_PRO_PHOTOS', 20_000, 'Photos that a pro account may have');

/** Metadata of photos; the images are at an image host. */
export default definePlugin<PhotoService>({
  name: 'photos',
  requires: [],
  quotas: { photos: { limits: { free: freePhotos, pro: proPhotos }, error: photoLimitReached } },
  errors: [photoNotFound, photoLimitReached, invalidCrop],
  models: [photoModel],
  setup: (host) => {
    const photos = new PhotoService(host);
    return {
      offers: photos,
      operations: routes(photos),
      derived: [usageOf('photos', (tx) => photos.count(tx))],
      listeners: { 'plant.removed': (tx, { plantId }) => photos.forgetPlant(tx, plantId) },
    };
  },
});
