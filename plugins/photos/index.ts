import { changedList } from '../../src/data/changes/changes';
import { tierQuota } from '../../src/data/model/quotas';
import { definePlugin } from '../../src/plugins/plugin';
import { photoAdded, photoDeleted } from './domain-events';
import { invalidCrop, PHOTO_QUOTA, photoLimitReached, photoModel, photoNotFound } from './model';
import { routes } from './routes';
import { photoView, viewOf } from './schema';
import { PhotoService } from './service';

export {
  cropFault,
  photo,
  type CreatePhoto,
  type PhotoDocument,
  type PhotoView,
  photoView,
  viewOf as photoViewOf,
} from './schema';
export { PHOTO_QUOTA, photoLimitReached, unknownPhoto, unknownPlant } from './model';

/** The interface of photos for other plugins. */
export type Photos = Pick<
  PhotoService,
  'byIds' | 'claim' | 'detachPlant' | 'ids' | 'insertBulk' | 'ofPlant' | 'showIn'
>;

/** Metadata of photos; the images are at an image host. */
export default definePlugin<Photos>({
  name: 'photos',
  requires: [],
  // Scopes of the whole garden are declared here, since all other plugins build on photos.
  scopes: {
    'plants:read': 'Read plants, their events and photos',
    'plants:write': 'Add, change and delete plants and photos',
  },
  quotas: { [PHOTO_QUOTA]: tierQuota(PHOTO_QUOTA, { free: 250, pro: 20_000 }, photoLimitReached) },
  errors: [photoNotFound, photoLimitReached, invalidCrop],
  emits: [photoAdded, photoDeleted],
  models: [photoModel],
  migrations: [{ name: '0001-revisions' }],
  instructions: 'Photos are metadata of images that are already at an image host.',
  tag: { name: 'Photos', description: 'Metadata of photos; the images are at an image host.' },
  setup: (host) => {
    const photos = new PhotoService(host);
    return {
      exports: photos,
      operations: () => routes(photos),
      changes: [
        changedList(photoModel, {
          view: photoView,
          toView: viewOf,
        }),
      ],
    };
  },
});
