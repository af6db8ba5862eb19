import { countSetting } from '../../src/core/settings';
import { on } from '../../src/data/listener';
import { definePlugin } from '../../src/plugins/plugin';
import plantsPlugin from '../plants';
import { plantDeleted } from '../plants/domain-events';
import { invalidCrop, photoLimitReached, photoNotFound, unknownPhoto } from './errors';
import { PHOTO_QUOTA, photoModel } from './model';
import { revisions } from './migrations/0001-revisions';
import { routes } from './routes';
import { photoView } from './schema';
import { PhotoService } from './service';

export { unknownPhoto } from './errors';
export { photo, type CreatePhoto, type PhotoDocument, type PhotoView, photoView } from './schema';
export { PHOTO_QUOTA } from './model';

/** What other plugins may do with photos. */
export type Photos = Pick<
  PhotoService,
  'byIds' | 'changes' | 'claim' | 'create' | 'insertBulk' | 'owners' | 'showIn'
>;

const freePhotos = countSetting('TIER_FREE_PHOTOS', 250, 'Photos that a free account may have');
const proPhotos = countSetting('TIER_PRO_PHOTOS', 20_000, 'Photos that a pro account may have');

/** Metadata of photos; the images are at an image host. */
export default definePlugin<Photos>({
  name: 'photos',
  requires: ['plants'],
  providesTo: ['plants'],
  quotas: {
    [PHOTO_QUOTA]: { limits: { free: freePhotos, pro: proPhotos }, error: photoLimitReached },
  },
  errors: [photoNotFound, photoLimitReached, invalidCrop],
  models: [photoModel],
  migrations: [revisions],
  instructions:
    'Photos are metadata of images that are already at the image host: create_photo first, then pass its id in photoIds of an event or as primaryPhotoId of a plant.',
  tag: { name: 'Photos', description: 'Metadata of photos; the images are at an image host.' },
  setup: (host) => {
    const plants = host.use(plantsPlugin);
    const photos = new PhotoService(host, plants);
    plants.photos.provide({
      view: photoView,
      errors: [unknownPhoto],
      byIds: (scope, ids) => photos.byIds(scope, ids),
      showIn: (...named) => photos.showIn(...named),
    });
    return {
      exports: photos,
      operations: () => routes(photos),
      listeners: [on(plantDeleted, (tx, { plantId }) => photos.detachPlant(tx, plantId))],
    };
  },
});
