import { invalidCursor } from '../../src/core/errors';
import { type Operation, read, remove, write } from '../../src/plugins/operation';
import { invalidCrop, photoLimitReached, photoNotFound, unknownPlant } from './errors';
import { cropPhoto, photo, photoList, photoListQuery, photoView } from './schema';
import type { PhotoService } from './service';

/** Operations on photos (docs/specification.md, 4.3). */
export function routes(photos: PhotoService): Operation[] {
  return [
    write({
      method: 'POST',
      path: '/api/photos',
      summary: 'Keep the metadata of an uploaded photo',
      description:
        'The image itself is at an image host already; only its metadata is kept here. The `id` of the answer goes into `photoIds` of an event, or `primaryPhotoId` of a plant. The tier limits how many photos an account may have.',
      access: { scope: 'plants:write' },
      body: photo.createBody,
      response: { schema: photoView, description: 'The photo' },
      errors: [photoLimitReached, unknownPlant],
      tool: {
        name: 'create_photo',
        description:
          'Record a photo that is already uploaded to the image host; this service keeps metadata only and cannot upload. Use the id that it answers in photoIds of an event or as primaryPhotoId of a plant. The tier limits how many photos there may be.',
      },
      handler: ({ tx, body }) => photos.create(tx, body),
    }),
    read({
      path: '/api/photos',
      summary: 'List photos',
      description:
        'The photos of the account, or those of one plant (`plantId`), newest first, in pages.',
      access: { scope: 'plants:read' },
      query: photoListQuery,
      response: {
        schema: photoList,
        description: 'A page of photos, newest createdAt first, then by id',
      },
      errors: [invalidCursor],
      tool: {
        name: 'list_photos',
        description:
          "List the person's photos, or those of one plant (plantId), newest first. While hasMore is true, pass nextCursor as cursor for the next page.",
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
          'Read the metadata of one photo: its URL, its size in pixels and bytes, and its crop in pixels (null where it has none).',
      },
      handler: ({ tenant, params }) => photos.get(tenant, params.id),
    }),
    write({
      method: 'PATCH',
      path: '/api/photos/{id}',
      summary: 'Set the crop of a photo',
      description:
        'The crop is a square in pixels of the image, to 2 pixels, and lies inside it. Events and plants that show the photo show it with its new crop.',
      access: { scope: 'plants:write' },
      params: { id: photoNotFound },
      body: cropPhoto,
      response: { schema: photoView, description: 'The photo with its new crop' },
      errors: [invalidCrop],
      tool: {
        name: 'crop_photo',
        description:
          'Set the square crop of a photo, in pixels of the image. Width and height may differ by at most 2, and the crop must lie inside the image; get_photo has its size.',
      },
      handler: ({ tx, params, body }) => photos.crop(tx, params.id, body),
    }),
    remove({
      path: '/api/photos/{id}',
      summary: 'Delete a photo; its events and plants stay, without it',
      description:
        'Deletes the metadata for good and frees its place; events and plants that show the photo stay, without it. The image stays at its host.',
      access: { scope: 'plants:write' },
      params: { id: photoNotFound },
      tool: {
        name: 'delete_photo',
        description:
          'Delete the metadata of a photo for good; events and plants that have it stay, without it. The image stays at the image host. This cannot be undone: ask the person first.',
      },
      handler: ({ tx, params }) => photos.delete(tx, params.id),
    }),
  ];
}
