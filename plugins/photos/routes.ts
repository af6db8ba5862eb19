import { invalidCursor } from '../../src/core/errors';
import { type Operation, read, remove, write } from '../../src/plugins/operation';
import { invalidCrop, photoLimitReached, photoNotFound, unknownPlant } from './model';
import { photo, photoList, photoListQuery, photoView, updatePhoto } from './schema';
import type { PhotoService } from './service';

/** Operations on photos (docs/specification.md, 4.3). */
export function routes(photos: PhotoService): Operation[] {
  return [
    write({
      method: 'POST',
      path: '/api/photos',
      summary: 'Add a photo',
      description:
        'Stores the metadata of an image that was uploaded to an image host. Use the `id` of the photo in `photoIds` of an event or as `primaryPhotoId` of a plant. The tier limits the number of photos.',
      access: { scope: 'plants:write' },
      body: photo.createBody,
      response: { schema: photoView, description: 'The photo' },
      errors: [photoLimitReached, unknownPlant],
      tool: {
        name: 'create_photo',
        description:
          'Add a photo that is already at the image host: this service cannot upload. Use its id in photoIds of an event or as primaryPhotoId of a plant.',
      },
      handler: ({ tx, body }) => photos.create(tx, body),
    }),
    read({
      path: '/api/photos',
      summary: 'List photos',
      description:
        'All photos, or those of one plant (`plantId`), newest first by `sort`, in pages. With `sort=takenAt`, photos without it come last.',
      access: { scope: 'plants:read' },
      query: photoListQuery,
      response: {
        schema: photoList,
        description: 'A page of photos, newest first, then by id',
      },
      errors: [invalidCursor],
      tool: {
        name: 'list_photos',
        description: 'List photos, newest first.',
      },
      handler: ({ account, query }) => photos.list(account.id, query),
    }),
    read({
      path: '/api/photos/{id}',
      summary: 'Read a photo',
      access: { scope: 'plants:read' },
      params: { id: photoNotFound },
      response: { schema: photoView, description: 'The photo' },
      tool: {
        name: 'get_photo',
        description:
          'Read one photo: its URL, its size and its crop in pixels (null: not cropped).',
      },
      handler: ({ tenant, params }) => photos.get(tenant, params.id),
    }),
    write({
      method: 'PATCH',
      path: '/api/photos/{id}',
      summary: 'Change a photo',
      description:
        'Changes `takenAt`, the crop (`x`, `y`, `width` and `height`) or both. The crop is a square, to within 2 pixels, inside the image. Events and plants show the changed photo.',
      access: { scope: 'plants:write' },
      params: { id: photoNotFound },
      body: updatePhoto,
      response: { schema: photoView, description: 'The changed photo' },
      errors: [invalidCrop],
      tool: {
        name: 'crop_photo',
        description:
          'Set when a photo was taken, or its square crop: x, y, width and height in pixels, inside the image; get_photo has its size.',
      },
      handler: ({ tx, params, body }) => photos.update(tx, params.id, body),
    }),
    remove({
      path: '/api/photos/{id}',
      summary: 'Delete a photo',
      description:
        'Deletes the metadata for good and frees its place. Events and plants no longer show the photo; the image stays at its host.',
      access: { scope: 'plants:write' },
      params: { id: photoNotFound },
      tool: {
        name: 'delete_photo',
        description:
          'Delete a photo from this service for good; the image stays at its host. Cannot be undone: ask first.',
      },
      handler: ({ tx, params }) => photos.delete(tx, params.id),
    }),
  ];
}
